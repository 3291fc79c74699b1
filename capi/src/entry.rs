//! The macros that make the exported functions. From one body come `MPI_X`, `PMPI_X` and, with
//! `[_c]` after the name, `MPI_X_c` and `PMPI_X_c`:
//!
//! ```text
//! entry! {
//!     AccessOnly fn MPI_Comm_rank(comm: Comm, rank: Out<Rank>) on comm {
//!         rank.set(Rank(decode::comm(comm)?.rank()))
//!     }
//! }
//! stub! {
//!     Collective fn MPI_Alltoallw[_c](...) on comm;
//! }
//! ```
//!
//! Before `fn` is the function's thread-safety class (`threads`), which says what the entry takes.
//! `on` names the argument whose error handler is called, and makes sure that MPI is running;
//! without it the handler of MPI_COMM_SELF is called and the body asks by `decode::running` if it
//! must. `on MPI_FILE_NULL` is for functions of files that are given no file, `on MPI_REQUEST_NULL` for those of requests and messages,
//! whose communicator is not known before. An entry with `on` has a second copy of its body, apart, for calls that are recorded
//! (docs/timeline.md) or checked (docs/checking.md).
//! `entries!` makes several functions whose first arguments are the same.
//! The types are those of `param` and `pointers`. A body decodes, calls the core, and does nothing
//! else; it never calls an exported function. `-> Type` instead of `on` makes a function that
//! returns a value of `param` and cannot fail. `stub!` is for what is not written yet.
//!
//! Invariant: an exported function with an MPI name exists only through these macros, so that the
//! header generator, which reads the invocations, knows them all.

macro_rules! entry {
    ($(#[$doc:meta])* $class:ident fn $name:ident [_c] ($($argument:ident: $type:ty),* $(,)?)
        $(on $object:ident)? $body:block) => {
        const _: () = {
            entry!(@binding $class $name, concat!(stringify!($name), "_c"),
                ($($argument: $type),*) ($($object)?) $body);
            entry!(@export small small_profiled Small, stringify!($name), concat!("P", stringify!($name)),
                ($($argument: $type),*));
            entry!(@export large large_profiled Large, concat!(stringify!($name), "_c"),
                concat!("P", stringify!($name), "_c"), ($($argument: $type),*));
        };
    };
    ($(#[$doc:meta])* $class:ident fn $name:ident ($($argument:ident: $type:ty),* $(,)?)
        $(on $object:ident)? $body:block) => {
        const _: () = {
            entry!(@binding $class $name, stringify!($name),
                ($($argument: $type),*) ($($object)?) $body);
            entry!(@export small small_profiled Small, stringify!($name), concat!("P", stringify!($name)),
                ($($argument: $type),*));
        };
    };
    ($(#[$doc:meta])* $class:ident fn $name:ident ($($argument:ident: $type:ty),* $(,)?)
        -> $result:ty $body:block) => {
        const _: () = {
            const _: $crate::threads::Class = $crate::threads::Class::$class;

            #[inline(always)]
            fn body($($argument: $type),*) -> $result $body

            #[unsafe(export_name = stringify!($name))]
            extern "C" fn function(
                $($argument: <$type as $crate::param::Param<$crate::param::Small>>::C),*
            ) -> <$result as $crate::param::Value>::SmallC {
                $crate::param::Returned::returned(
                    body($(<$type as $crate::param::Param<$crate::param::Small>>::take(
                        $argument, stringify!($argument))),*))
            }

            #[unsafe(export_name = concat!("P", stringify!($name)))]
            extern "C" fn profiled(
                $($argument: <$type as $crate::param::Param<$crate::param::Small>>::C),*
            ) -> <$result as $crate::param::Value>::SmallC {
                $crate::param::Returned::returned(
                    body($(<$type as $crate::param::Param<$crate::param::Small>>::take(
                        $argument, stringify!($argument))),*))
            }
        };
    };
    (@binding $class:ident $name:ident, $large_name:expr,
        ($($argument:ident: $type:ty),*) ($($object:ident)?) $body:block) => {
        #[inline(always)]
        fn body($($argument: $type),*) -> oxmpi::error::Result<()> $body

        entry!(@unusual_function $class $name, ($($argument: $type),*) ($($object)?));

        #[inline(always)]
        fn binding<F: $crate::param::Binding>(
            $($argument: <$type as $crate::param::Param<F>>::C),*
        ) -> std::ffi::c_int
        where
            $($type: $crate::param::Param<F>),*
        {
            const MARKS: bool =
                false $(|| $crate::threads::Class::$class.marks::<$type>())*;
            let _call = MARKS.then(oxmpi::engine::epochs::Pin::begin);
            let _uncancelled = $crate::threads::Class::$class
                .may_block_in_system()
                .then(oxmpi::os::cancellation::Uncancelled::begin);
            let quiet = {
                $(let $argument = <$type as $crate::param::Param<F>>::take(
                    $argument, stringify!($argument));)*
                match entry!(@is_quiet $($object)?) {
                    true => Some(body($($argument),*)),
                    false => None,
                }
            };
            let result = match quiet {
                Some(result) => result,
                None => entry!(@unusual unusual ($($object)?) F, $($argument),*),
            };
            let Err(error) = result else {
                return 0;
            };
            // Taken again: arguments that have an address would be in memory in good calls too.
            $(let $argument = <$type as $crate::param::Param<F>>::take(
                $argument, stringify!($argument));)*
            $crate::error_return::raise(
                error,
                if F::LARGE { $large_name } else { stringify!($name) },
                &[$((stringify!($argument), &$argument as &dyn $crate::param::Describe)),*],
                entry!(@origin $($object)?),
            )
        }
    };
    (@export $function:ident $profiled:ident $binding:ident, $name:expr, $profiling_name:expr,
        ($($argument:ident: $type:ty),*)) => {
        #[unsafe(export_name = $name)]
        extern "C" fn $function(
            $($argument: <$type as $crate::param::Param<$crate::param::$binding>>::C),*
        ) -> std::ffi::c_int {
            binding::<$crate::param::$binding>($($argument),*)
        }

        #[unsafe(export_name = $profiling_name)]
        extern "C" fn $profiled(
            $($argument: <$type as $crate::param::Param<$crate::param::$binding>>::C),*
        ) -> std::ffi::c_int {
            binding::<$crate::param::$binding>($($argument),*)
        }
    };
    // A call while MPI is not running, while events wait to be told, or of a job that is recorded.
    (@unusual_function $class:ident $name:ident, ($($argument:ident: $type:ty),*) ()) => {};
    (@unusual_function $class:ident $name:ident, ($($argument:ident: $type:ty),*) ($object:ident)) => {
        #[cold]
        #[inline(never)]
        fn unusual<F: $crate::param::Binding>(
            $($argument: <$type as $crate::param::Param<F>>::C),*
        ) -> oxmpi::error::Result<()>
        where
            $($type: $crate::param::Param<F>),*
        {
            $(let $argument = <$type as $crate::param::Param<F>>::take(
                $argument, stringify!($argument));)*
            entry!(@may_run $object)?;
            const RECORDED: bool = $crate::threads::Class::$class.is_recorded();
            const COLLECTIVE: bool = matches!(
                $crate::threads::Class::$class, $crate::threads::Class::Collective);
            const ROLE: $crate::checked::Role =
                $crate::checked::role_of(stringify!($name), COLLECTIVE);
            const CHECKED: bool = !matches!(ROLE, $crate::checked::Role::Nothing);
            let recorded = RECORDED && oxmpi::events::timeline::is_on();
            let checked = CHECKED && $crate::checked::is_on();
            if !recorded && !checked {
                return body($($argument),*);
            }
            #[allow(unused_imports)]
            use $crate::checked::{Seen, SeenAnyhow, SeenWell};
            #[allow(unused_imports)]
            use $crate::timeline::{Noted, NotedAnyhow, NotedWell};
            static FUNCTION: oxmpi::events::timeline::Function =
                oxmpi::events::timeline::Function::new(stringify!($name));
            let mut check = None;
            if checked {
                let check = check.insert($crate::checked::Check::begin(ROLE, stringify!($name)));
                $((&Seen($argument)).before(stringify!($argument), check);)*
                check.look()?;
            }
            let mut call = None;
            if recorded {
                let call = call.insert($crate::timeline::Call::begin(
                    const { $crate::timeline::kind_of(stringify!($name), COLLECTIVE) }));
                $((&Noted($argument)).before(stringify!($argument), call);)*
            }
            let instead = match &mut check {
                Some(check) => check.instead(),
                None => None,
            };
            let result = match instead {
                Some(result) => result,
                None => body($($argument),*),
            };
            if let Some(check) = &mut check {
                check.returned(result.is_ok());
                $((&Seen($argument)).after(check);)*
            }
            if let Some(mut call) = call {
                $((&Noted($argument)).after(&mut call);)*
                call.end(&FUNCTION, result.is_ok());
            }
            match check {
                Some(check) => check.end(result),
                None => result,
            }
        }
    };
    (@unusual $function:ident () $binding:ident, $($argument:ident),*) => {
        // An entry without `on` has no such call.
        oxmpi::error::Result::Ok(())
    };
    (@unusual $function:ident ($object:ident) $binding:ident, $($argument:ident),*) => {
        $function::<$binding>($($argument),*)
    };
    (@is_quiet) => {
        true
    };
    (@is_quiet MPI_FILE_NULL) => {
        oxmpi::process::is_running_and_quiet()
    };
    (@is_quiet MPI_REQUEST_NULL) => {
        oxmpi::process::is_running_and_quiet()
    };
    (@is_quiet $object:ident) => {
        $crate::error_return::Raises::is_quiet(&$object)
    };
    (@may_run MPI_FILE_NULL) => {
        $crate::decode::running()
    };
    (@may_run MPI_REQUEST_NULL) => {
        $crate::decode::running()
    };
    (@may_run $object:ident) => {
        $crate::error_return::Raises::may_run(&$object)
    };
    (@origin) => {
        $crate::error_return::Origin::None
    };
    (@origin MPI_REQUEST_NULL) => {
        $crate::error_return::Origin::None
    };
    (@origin MPI_FILE_NULL) => {
        $crate::error_return::Origin::File($crate::param::File::of_handle(0))
    };
    (@origin $object:ident) => {
        $crate::error_return::Raises::origin(&$object)
    };
}

/// Several entries from the arguments that come first in all of them. What these are decoded to is written once, as a local function
/// that each body calls after it has looked at its own arguments:
///
/// ```text
/// entries! {
///     (source: Rank, tag: Tag, comm: Comm) on comm;
///     wanted() = awaited(source, tag, comm);
///
///     CommIo fn MPI_Probe(status: Out<Status>) { ... }
///     CommIo fn MPI_Iprobe(flag: Out<Logical>, status: Out<Status>) { ... }
/// }
/// ```
macro_rules! entries {
    ($arguments:tt on $object:ident; $decode:ident $inputs:tt = $decoded:expr;
        $($class:ident fn $name:ident $([$suffix:ident])? ($($more:tt)*) $body:block)*) => {
        $(entries!(@one $arguments $object, $decode $inputs $decoded,
            $class $name ($([$suffix])?) ($($more)*) $body);)*
    };
    (@one ($($argument:ident: $type:ty),* $(,)?) $object:ident,
        $decode:ident ($($input:ident),*) $decoded:expr,
        $class:ident $name:ident ($($suffix:tt)?) ($($more:ident: $kind:ty),* $(,)?) $body:block) => {
        entry! {
            $class fn $name $($suffix)? ($($argument: $type,)* $($more: $kind),*) on $object {
                // An argument of a call, because a closure has attributes nowhere else.
                let $decode = std::convert::identity(#[inline(always)] |$($input),*| $decoded);
                $body
            }
        }
    };
}

/// Functions that are exported, because programs must load, but are not written yet: they fail
/// with MPI_ERR_UNSUPPORTED_OPERATION. `docs/support.md` counts them as missing. All of them are MPICH's extensions.
#[cfg(not(standard_abi))]
macro_rules! stub {
    ($($(#[$doc:meta])* $class:ident fn $name:ident $([$suffix:ident])?
        ($($argument:ident: $type:ty),* $(,)?) $(on $object:ident)?;)*) => {
        $(
            entry! {
                $(#[$doc])*
                $class fn $name $([$suffix])? ($($argument: $type),*) $(on $object)? {
                    $(let _ = $argument;)*
                    $crate::error_return::not_written()
                }
            }
        )*
    };
}
