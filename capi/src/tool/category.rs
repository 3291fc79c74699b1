//! Categories of variables and events.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_T_category_changed(update_number: Out<Int>);

    fn MPI_T_category_get_categories(cat_index: Int, len: Int, indices: OutArray<Int>);

    fn MPI_T_category_get_cvars(cat_index: Int, len: Int, indices: OutArray<Int>);

    fn MPI_T_category_get_events(cat_index: Int, len: Int, indices: OutArray<Int>);

    fn MPI_T_category_get_index(name: Text, cat_index: Out<Int>);

    fn MPI_T_category_get_info(
        cat_index: Int, name: TextOut, name_len: InOut<Int>, desc: TextOut, desc_len: InOut<Int>,
        num_cvars: Out<Int>, num_pvars: Out<Int>, num_categories: Out<Int>,
    );

    fn MPI_T_category_get_num(num_cat: Out<Int>);

    fn MPI_T_category_get_num_events(cat_index: Int, num_events: Out<Int>);

    fn MPI_T_category_get_pvars(cat_index: Int, len: Int, indices: OutArray<Int>);
}
