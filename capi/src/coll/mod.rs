//! Collective operations.

/// The three forms of an operation from one list of arguments: blocking, nonblocking with a request, persistent with hints and a
/// request. The body decodes the arguments.
///
/// ```text
/// forms! {
///     Collective fn MPI_Barrier MPI_Ibarrier MPI_Barrier_init(comm: Comm) on comm {
///         arguments::barrier(comm)
///     }
/// }
/// ```
macro_rules! forms {
    ($class:ident fn $blocking:ident $nonblocking:ident $persistent:ident $([$suffix:ident])?
        ($($argument:ident: $type:ty),* $(,)?) on $object:ident $body:block) => {
        entry! {
            $class fn $blocking $([$suffix])? ($($argument: $type),*) on $object {
                const KIND: u64 = oxmpi::coll::kind_of(stringify!($blocking));
                // Used where it is, and dropped only if there is something to drop: the compiler does not see that behind a call.
                let decoded = $body;
                match decoded {
                    Ok((comm, ref call)) => {
                        let owns_memory = call.owns_memory();
                        let done = oxmpi::coll::block::<KIND>(comm, stringify!($blocking), call);
                        if !owns_memory {
                            std::mem::forget(decoded);
                        }
                        done
                    }
                    Err(error) => Err(error),
                }
            }
        }
        entry! {
            $class fn $nonblocking $([$suffix])? ($($argument: $type,)* request: Out<Request>) on $object {
                request.not_null()?;
                let (comm, call) = $body?;
                request.set(Request(oxmpi::coll::begin(comm, stringify!($nonblocking), call)?))
            }
        }
        entry! {
            $class fn $persistent $([$suffix])? (
                $($argument: $type,)* info: Info, request: Out<Request>,
            ) on $object {
                request.not_null()?;
                oxmpi::info::hints(info.0)?;
                let (comm, call) = $body?;
                request.set(Request(oxmpi::coll::keep(comm, stringify!($persistent), call)?))
            }
        }
    };
}

mod apart;
mod arguments;
mod movement;
mod neighborhood;
mod neighbors;
mod reductions;
mod vectors;
