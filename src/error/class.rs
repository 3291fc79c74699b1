//! The error classes, with the numbers that programs compiled against MPICH's header know.
//! A class is a number and not an enum, because programs add their own.

/// An error class: one of the predefined ones below, or one made by `add_class`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Class(i32);

/// The bit that all classes and codes added by the user have, and no others.
pub(super) const USER_BIT: i32 = 0x4000_0000;

impl Class {
    pub const fn from_value(value: i32) -> Class {
        Class(value)
    }

    /// The value that MPI_Error_class gives.
    pub const fn value(self) -> i32 {
        self.0
    }

    pub const fn is_user(self) -> bool {
        self.0 & USER_BIT != 0
    }

    /// Whether this is a predefined class.
    pub fn is_predefined(self) -> bool {
        find(self.0).is_some()
    }

    /// The name in mpi.h; of a class added by the user "user error class".
    pub fn name(self) -> &'static str {
        match find(self.0) {
            Some((_, name, _)) => name,
            None if self.is_user() => "user error class",
            None => "unknown error class",
        }
    }

    /// Whether this is one of MPI_T's, which its functions return themselves.
    pub fn is_of_tools(self) -> bool {
        self.name().starts_with("MPI_T_")
    }

    /// What the class means, in a few words; empty for a class that is not predefined.
    pub fn meaning(self) -> &'static str {
        find(self.0).map_or("", |(_, _, meaning)| meaning)
    }
}

fn find(value: i32) -> Option<(i32, &'static str, &'static str)> {
    let position = CLASSES.binary_search_by_key(&value, |entry| entry.0).ok()?;
    Some(CLASSES[position])
}

macro_rules! classes {
    ($($name:ident = $value:literal, $c_name:literal, $meaning:literal;)*) => {
        #[allow(non_upper_case_globals)] // read like the variants of an enum: Class::Tag
        impl Class {
            $(#[doc = concat!($c_name, ": ", $meaning)] pub const $name: Class = Class($value);)*
        }

        /// Value, name and meaning, ascending by value.
        const CLASSES: &[(i32, &str, &str)] = &[$(($value, $c_name, $meaning)),*];
    };
}

classes! {
    Success = 0, "MPI_SUCCESS", "no error";
    Buffer = 1, "MPI_ERR_BUFFER", "invalid buffer";
    Count = 2, "MPI_ERR_COUNT", "invalid count";
    Type = 3, "MPI_ERR_TYPE", "invalid datatype";
    Tag = 4, "MPI_ERR_TAG", "invalid tag";
    Comm = 5, "MPI_ERR_COMM", "invalid communicator";
    Rank = 6, "MPI_ERR_RANK", "invalid rank";
    Root = 7, "MPI_ERR_ROOT", "invalid root";
    Group = 8, "MPI_ERR_GROUP", "invalid group";
    Op = 9, "MPI_ERR_OP", "invalid reduction operation";
    Topology = 10, "MPI_ERR_TOPOLOGY", "invalid topology";
    Dims = 11, "MPI_ERR_DIMS", "invalid dimensions";
    Arg = 12, "MPI_ERR_ARG", "invalid argument";
    Unknown = 13, "MPI_ERR_UNKNOWN", "unknown error";
    Truncate = 14, "MPI_ERR_TRUNCATE", "message longer than the receive buffer";
    Other = 15, "MPI_ERR_OTHER", "error of no other class";
    Intern = 16, "MPI_ERR_INTERN", "internal error of the library";
    InStatus = 17, "MPI_ERR_IN_STATUS", "the errors are in the statuses";
    Pending = 18, "MPI_ERR_PENDING", "the operation has not completed";
    Request = 19, "MPI_ERR_REQUEST", "invalid request";
    Access = 20, "MPI_ERR_ACCESS", "permission denied";
    Amode = 21, "MPI_ERR_AMODE", "invalid access mode";
    BadFile = 22, "MPI_ERR_BAD_FILE", "invalid file name";
    Conversion = 23, "MPI_ERR_CONVERSION", "a data conversion function failed";
    DupDatarep = 24, "MPI_ERR_DUP_DATAREP", "data representation is already registered";
    FileExists = 25, "MPI_ERR_FILE_EXISTS", "file exists";
    FileInUse = 26, "MPI_ERR_FILE_IN_USE", "file is in use";
    File = 27, "MPI_ERR_FILE", "invalid file handle";
    Info = 28, "MPI_ERR_INFO", "invalid info object";
    InfoKey = 29, "MPI_ERR_INFO_KEY", "info key is empty or too long";
    InfoValue = 30, "MPI_ERR_INFO_VALUE", "info value is empty or too long";
    InfoNokey = 31, "MPI_ERR_INFO_NOKEY", "info key is not set";
    Io = 32, "MPI_ERR_IO", "input or output error";
    Name = 33, "MPI_ERR_NAME", "service name was not published";
    NoMem = 34, "MPI_ERR_NO_MEM", "out of memory";
    NotSame = 35, "MPI_ERR_NOT_SAME", "argument differs between processes";
    NoSpace = 36, "MPI_ERR_NO_SPACE", "no space left";
    NoSuchFile = 37, "MPI_ERR_NO_SUCH_FILE", "file does not exist";
    Port = 38, "MPI_ERR_PORT", "invalid port name";
    Quota = 39, "MPI_ERR_QUOTA", "quota exceeded";
    ReadOnly = 40, "MPI_ERR_READ_ONLY", "file or file system is read-only";
    Service = 41, "MPI_ERR_SERVICE", "invalid service name";
    Spawn = 42, "MPI_ERR_SPAWN", "processes could not be started";
    UnsupportedDatarep = 43, "MPI_ERR_UNSUPPORTED_DATAREP", "unsupported data representation";
    UnsupportedOperation = 44, "MPI_ERR_UNSUPPORTED_OPERATION", "unsupported operation";
    Win = 45, "MPI_ERR_WIN", "invalid window";
    Base = 46, "MPI_ERR_BASE", "invalid base address";
    Locktype = 47, "MPI_ERR_LOCKTYPE", "invalid lock type";
    Keyval = 48, "MPI_ERR_KEYVAL", "invalid attribute key";
    RmaConflict = 49, "MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window";
    RmaSync = 50, "MPI_ERR_RMA_SYNC", "wrong synchronization of window accesses";
    Size = 51, "MPI_ERR_SIZE", "invalid size";
    Disp = 52, "MPI_ERR_DISP", "invalid displacement";
    Assert = 53, "MPI_ERR_ASSERT", "invalid assertion";
    RmaRange = 55, "MPI_ERR_RMA_RANGE", "target memory is outside of the window";
    RmaAttach = 56, "MPI_ERR_RMA_ATTACH", "memory cannot be attached to the window";
    RmaShared = 57, "MPI_ERR_RMA_SHARED", "memory cannot be shared";
    RmaFlavor = 58, "MPI_ERR_RMA_FLAVOR", "window has the wrong flavor";
    TMemory = 59, "MPI_T_ERR_MEMORY", "tool interface: out of memory";
    TNotInitialized = 60, "MPI_T_ERR_NOT_INITIALIZED", "tool interface: not initialized";
    TCannotInit = 61, "MPI_T_ERR_CANNOT_INIT", "tool interface: cannot be initialized now";
    TInvalidIndex = 62, "MPI_T_ERR_INVALID_INDEX", "tool interface: invalid index";
    TInvalidItem = 63, "MPI_T_ERR_INVALID_ITEM", "tool interface: item index out of range";
    TInvalidHandle = 64, "MPI_T_ERR_INVALID_HANDLE", "tool interface: invalid handle";
    TOutOfHandles = 65, "MPI_T_ERR_OUT_OF_HANDLES", "tool interface: no handles left";
    TOutOfSessions = 66, "MPI_T_ERR_OUT_OF_SESSIONS", "tool interface: no sessions left";
    TInvalidSession = 67, "MPI_T_ERR_INVALID_SESSION", "tool interface: invalid session";
    TCvarSetNotNow = 68, "MPI_T_ERR_CVAR_SET_NOT_NOW", "tool interface: variable cannot be set at this moment";
    TCvarSetNever = 69, "MPI_T_ERR_CVAR_SET_NEVER", "tool interface: variable cannot be set any more";
    TPvarNoStartstop = 70, "MPI_T_ERR_PVAR_NO_STARTSTOP", "tool interface: variable cannot be started or stopped";
    TPvarNoWrite = 71, "MPI_T_ERR_PVAR_NO_WRITE", "tool interface: variable cannot be written or reset";
    TPvarNoAtomic = 72, "MPI_T_ERR_PVAR_NO_ATOMIC", "tool interface: variable cannot be read and written atomically";
    TInvalidName = 73, "MPI_T_ERR_INVALID_NAME", "tool interface: invalid name";
    TInvalid = 74, "MPI_T_ERR_INVALID", "tool interface: invalid use";
    Session = 75, "MPI_ERR_SESSION", "invalid session";
    ProcAborted = 76, "MPI_ERR_PROC_ABORTED", "a peer process has aborted";
    ValueTooLarge = 77, "MPI_ERR_VALUE_TOO_LARGE", "value is too large for the argument that should hold it";
    TNotSupported = 78, "MPI_T_ERR_NOT_SUPPORTED", "tool interface: not supported";
    TNotAccessible = 79, "MPI_T_ERR_NOT_ACCESSIBLE", "tool interface: not accessible";
    Errhandler = 80, "MPI_ERR_ERRHANDLER", "invalid error handler";
    Abi = 81, "MPI_ERR_ABI", "ABI functions are not available or disagree";
    ProcFailed = 101, "MPIX_ERR_PROC_FAILED", "a process has failed";
    ProcFailedPending = 102, "MPIX_ERR_PROC_FAILED_PENDING", "a process that might match has failed, the operation is pending";
    Revoked = 103, "MPIX_ERR_REVOKED", "the communicator was revoked";
    Eagain = 104, "MPIX_ERR_EAGAIN", "resources are short, try again";
    Noreq = 105, "MPIX_ERR_NOREQ", "no request could be made";
    Stream = 106, "MPIX_ERR_STREAM", "invalid stream";
    Timeout = 107, "MPIX_ERR_TIMEOUT", "the operation took too long";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_ascend_and_fit_into_seven_bits() {
        assert!(CLASSES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(CLASSES.iter().all(|class| (0..128).contains(&class.0)));
    }

    #[test]
    fn names_and_meanings() {
        assert_eq!(Class::Truncate.name(), "MPI_ERR_TRUNCATE");
        assert_eq!(Class::from_value(14), Class::Truncate);
        assert_eq!(Class::from_value(54).meaning(), "");
        assert!(!Class::from_value(54).is_predefined());
    }
}
