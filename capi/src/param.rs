//! What an argument of an MPI function means: the types that entries are written in.
//!
//! One entry makes up to two C functions, MPI_X and MPI_X_c, which differ in the widths of counts
//! and displacements. `Small` and `Large` name these two bindings; a parameter type says by `Param`
//! which C type stands for it in each binding. The header generator reads the tables of this file by
//! their tokens, so that the C spelling of a type is written nowhere else.
//!
//! Invariant: values inside are wide (64 bits) and know nothing of the binding they came through;
//! only pointers that are written through (`Out`, `OutArray`) remember it.

use crate::types::*;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use std::ffi::{c_char, c_int, c_void};
use std::fmt::{self, Write};

/// The binding of an entry without a suffix.
pub struct Small;
/// The binding with the suffix `_c`.
pub struct Large;

pub trait Binding {
    const LARGE: bool;
}

impl Binding for Small {
    const LARGE: bool = false;
}

impl Binding for Large {
    const LARGE: bool = true;
}

/// A parameter of an entry in the binding `F`.
pub trait Param<F>: Copy + Describe {
    type C: Copy;
    /// Whether the argument names an object that another thread may free while the call goes on using it, so that calls that do
    /// are marked ([`oxmpi::engine::epochs`]).
    const PINS: bool;
    /// `name` is the parameter's, for the texts of errors.
    fn take(c: Self::C, name: &'static str) -> Self;
}

/// Writes an argument into the text of an error.
pub trait Describe {
    fn describe(&self, text: &mut dyn Write) -> fmt::Result;

    /// Of a result: writes [`Value::NOTHING`], if there is that.
    fn make_nothing(&self) {}
}

/// What has a C type in both bindings, and can be an element of an array or the target of `Out`.
pub trait Value: Copy + Describe {
    type SmallC: Copy;
    type LargeC: Copy;
    /// See [`Param::PINS`].
    const PINS: bool;
    /// Whether NULL in place of a result means that nobody wants it (MPI_STATUS_IGNORE of the standard ABI).
    const NULL_IS_IGNORED: bool = false;
    /// What a function writes in place of something new when a failed process, or a revocation, has kept it from making that.
    const NOTHING: Option<Self> = None;
    /// The handle of an object that the program will have to free; requests are noted where they are made.
    #[inline(always)]
    fn object(self) -> Option<c_int> {
        None
    }
    fn from_small(c: Self::SmallC) -> Self;
    fn from_large(c: Self::LargeC) -> Self;
    /// An error when the value does not fit.
    fn to_small(self) -> Result<Self::SmallC>;
    fn to_large(self) -> Result<Self::LargeC>;
}

/// What a function can return in place of an error code.
pub trait Returned: Value {
    fn returned(self) -> Self::SmallC;
}

handles! {
    Comm = MPI_Comm, comm, comm;
    Datatype = MPI_Datatype, datatype, datatype;
    Errhandler = MPI_Errhandler, handle, errhandler;
    Group = MPI_Group, handle, group;
    Info = MPI_Info, handle, info;
    Message = MPI_Message, handle, message;
    Op = MPI_Op, op, op;
    Request = MPI_Request, handle, request;
    Session = MPI_Session, handle, session;
    Win = MPI_Win, handle, win;
    Stream = MPIX_Stream, handle, other;
    GrequestClass = MPIX_Grequest_class, handle, other;
}

// MPICH's C has pointers for files, too.
converted! {
    File(MPI_File) = MPI_File, crate::standard::handles::file::inside, crate::standard::handles::file::of_program
}

impl Describe for File {
    fn describe(&self, text: &mut dyn Write) -> fmt::Result {
        crate::describe::pointer(self.0, text)
    }
}

numbers! {
    Rank = c_int, rank, rank;
    Root = c_int, root, rank;
    Tag = c_int, tag, tag;
    Keyval = c_int, keyval, keyval;
    ErrorCode = c_int, integer, error;
    ErrorClass = c_int, integer, error;
    ThreadLevel = c_int, integer, thread_level;
    Comparison = c_int, integer, comparison;
    Combiner = c_int, integer, combiner;
    Order = c_int, integer, order;
    Distribution = c_int, integer, distribution;
    DistributionArgument = c_int, integer, distribution_argument;
    TypeClass = c_int, integer, typeclass;
    SplitType = c_int, integer, split_type;
    TopologyType = c_int, integer, topology;
    Assertion = c_int, integer, assertion;
    LockType = c_int, integer, lock;
    AccessMode = c_int, integer, access_mode;
    Whence = c_int, integer, whence;
    /// Where a view begins; may be MPI_DISPLACEMENT_CURRENT.
    ViewOffset = MPI_Offset, long, displacement;
    TSafety = MPI_T_cb_safety, integer, safety;
    TSourceOrder = MPI_T_source_order, integer, source_order;
    TVerbosity = c_int, integer, verbosity;
    TBinding = c_int, integer, binding;
    TScope = c_int, integer, scope;
    TVariableClass = c_int, integer, variable_class;
}

converted! {
    Status(oxmpi::datatype::Status) = MPI_Status, crate::standard::status::inside, crate::standard::status::of_program
}

impl Describe for Status {
    fn describe(&self, text: &mut dyn Write) -> fmt::Result {
        let (source, tag) = (Rank(self.0.source).to_c(), Tag(self.0.tag).to_c());
        crate::describe::status(
            oxmpi::datatype::Status {
                source,
                tag,
                ..self.0
            },
            text,
        )
    }
}

// The number of a variable's handle, beside MPI_T_PVAR_ALL_HANDLES.
converted! {
    TPvarHandle(MPI_T_pvar_handle) = MPI_T_pvar_handle, crate::standard::handles::pvar::inside, crate::standard::handles::pvar::of_program
}

impl Describe for TPvarHandle {
    fn describe(&self, text: &mut dyn Write) -> fmt::Result {
        crate::describe::pointer(self.to_c(), text)
    }
}

plain! {
    AsyncThing = MPIX_Async_thing, pointer;

    /// A number that means nothing special.
    Int = c_int, integer;
    Logical = c_int, integer;
    Color = c_int, integer;
    Weight = c_int, integer;
    /// An index into a list of the caller's; may come back as MPI_UNDEFINED.
    Index = c_int, integer;
    /// A handle of the standard ABI or of Fortran seen as a C int.
    HandleInt = c_int, handle;

    Aint = MPI_Aint, long;
    Offset = MPI_Offset, long;
    /// MPI_Count where the standard has it in both bindings.
    LargeCount = MPI_Count, long;
    Fint = MPI_Fint, integer;
    Double = f64, double;

    TEnum = MPI_T_enum, pointer;
    TCvarHandle = MPI_T_cvar_handle, pointer;
    TPvarSession = MPI_T_pvar_session, pointer;
    TEventRegistration = MPI_T_event_registration, pointer;
    TEventInstance = MPI_T_event_instance, pointer;

    F08Status = MPI_F08_status, status;
    Iov = MPIX_Iov, iov;

    /// A buffer that is read, in units of a datatype.
    SendBuffer = *const c_void, address;
    /// A buffer that is written, in units of a datatype.
    RecvBuffer = *mut c_void, address;
    /// Memory the library is to use, or that it gave.
    Memory = *mut c_void, address;
    /// An address, never followed.
    Address = *const c_void, address;
    /// Where an address is written to: `void *` in C, a pointer to a pointer in truth.
    AddressOut = *mut c_void, address;
    AttributeValue = *mut c_void, address;
    /// As `AddressOut`, for MPI_Comm_get_attr and its like.
    AttributeOut = *mut c_void, address;
    ExtraState = *mut c_void, address;
    /// The Fortran bit pattern of a LOGICAL.
    LogicalBits = *mut c_void, address;
    /// A tool variable's object: a pointer to a handle.
    TObject = *mut c_void, address;
    /// A tool variable's value.
    TBuffer = *mut c_void, address;

    /// A string of the caller, zero-terminated.
    Text = *const c_char, text;
    /// As `Text`, but only the root of the call has one; elsewhere it may be any address.
    RootText = *const c_char, pointer;
    /// Where a string is written to, zero-terminated, at most as long as the standard says.
    TextOut = *mut c_char, pointer;
    /// `char *argv[]`, ended by a null pointer.
    TextArray = Strings, pointer;
    /// `char **array_of_argv[]`.
    TextArrays = *mut Strings, pointer;
    /// `first, last, stride` of MPI_Group_range_incl.
    Range = [c_int; 3], range;
}

wide! {
    /// A number of elements or bytes.
    Count = c_int | MPI_Count;
    /// In units of a datatype's extent, where `_c` has addresses.
    Displacement = c_int | MPI_Aint;
    /// In units of a datatype's extent, where `_c` has counts.
    BlockDisplacement = c_int | MPI_Count;
    /// In bytes.
    ByteDisplacement = MPI_Aint | MPI_Count;
    /// The bytes that one unit of a window's displacement stands for.
    DisplacementUnit = c_int | MPI_Aint;
}

function! {
    CommCopyFunction = MPI_Comm_copy_attr_function;
    CommDeleteFunction = MPI_Comm_delete_attr_function;
    TypeCopyFunction = MPI_Type_copy_attr_function;
    TypeDeleteFunction = MPI_Type_delete_attr_function;
    WinCopyFunction = MPI_Win_copy_attr_function;
    WinDeleteFunction = MPI_Win_delete_attr_function;
    CopyFunction = MPI_Copy_function;
    DeleteFunction = MPI_Delete_function;
    CommErrhandlerFunction = MPI_Comm_errhandler_function;
    FileErrhandlerFunction = MPI_File_errhandler_function;
    WinErrhandlerFunction = MPI_Win_errhandler_function;
    SessionErrhandlerFunction = MPI_Session_errhandler_function;
    GrequestQueryFunction = MPI_Grequest_query_function;
    GrequestFreeFunction = MPI_Grequest_free_function;
    GrequestCancelFunction = MPI_Grequest_cancel_function;
    GrequestPollFunction = MPIX_Grequest_poll_function;
    GrequestWaitFunction = MPIX_Grequest_wait_function;
    DatarepExtentFunction = MPI_Datarep_extent_function;
    TEventFunction = MPI_T_event_cb_function;
    TEventFreeFunction = MPI_T_event_free_cb_function;
    TEventDroppedFunction = MPI_T_event_dropped_cb_function;
    CommErrhandlerFunctionX = MPIX_Comm_errhandler_function_x;
    FileErrhandlerFunctionX = MPIX_File_errhandler_function_x;
    WinErrhandlerFunctionX = MPIX_Win_errhandler_function_x;
    SessionErrhandlerFunctionX = MPIX_Session_errhandler_function_x;
    UserFunctionX = MPIX_User_function_x;
    DestructorFunction = MPIX_Destructor_function;
    AsyncPollFunction = MPIX_Async_poll_function;
}

function! {
    /// A reduction of the program.
    UserFunction = MPI_User_function | MPI_User_function_c;
    DatarepConversionFunction =
        MPI_Datarep_conversion_function | MPI_Datarep_conversion_function_c;
}
