//! Error classes, codes and strings.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Error_class(errorcode: ErrorCode, errorclass: Out<ErrorClass>);

    fn MPI_Error_string(errorcode: ErrorCode, string: TextOut, resultlen: Out<Int>);

    fn MPI_Add_error_class(errorclass: Out<ErrorClass>);

    fn MPI_Add_error_code(errorclass: ErrorClass, errorcode: Out<ErrorCode>);

    fn MPI_Add_error_string(errorcode: ErrorCode, string: Text);

    fn MPI_Remove_error_class(errorclass: ErrorClass);

    fn MPI_Remove_error_code(errorcode: ErrorCode);

    fn MPI_Remove_error_string(errorcode: ErrorCode);
}
