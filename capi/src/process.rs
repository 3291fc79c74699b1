//! Initialization and finalization, chapter 11.

use crate::attr;
use crate::constants::of_program::{MPI_THREAD_MULTIPLE, MPI_THREAD_SINGLE};
use crate::decode;
use crate::error_return;
use crate::other_library;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::{Class, Result};
use oxmpi::events::{self, Safety};
use oxmpi::fail;
use oxmpi::process::settings::THREAD_LEVEL;
use oxmpi::process::{self, ThreadLevel as Level};

pub fn level(required: ThreadLevel) -> Result<Level> {
    Ok(match required.0 {
        0 => Level::Single,
        1 => Level::Funneled,
        2 => Level::Serialized,
        3 => Level::Multiple,
        _ => {
            return fail!(
                Class::Arg,
                "required is {}; allowed is {MPI_THREAD_SINGLE} (MPI_THREAD_SINGLE) to {MPI_THREAD_MULTIPLE} (MPI_THREAD_MULTIPLE)",
                required.to_c()
            );
        }
    })
}

entry! {
    Other fn MPI_Init(argc: InOut<Int>, argv: InOut<TextArray>) {
        // The arguments of main are the program's own: the launcher tells us by other ways.
        let _ = (argc, argv);
        other_library::begin()?;
        process::init(THREAD_LEVEL.get().into()).map(drop)
    }
}

entry! {
    Other fn MPI_Init_thread(
        argc: InOut<Int>, argv: InOut<TextArray>, required: ThreadLevel, provided: Out<ThreadLevel>,
    ) {
        let _ = (argc, argv);
        let level = level(required)?;
        other_library::begin()?;
        let given = process::init(level)?;
        provided.set(ThreadLevel(given as i32))
    }
}

entry! {
    None fn MPI_Initialized(flag: Out<Logical>) {
        flag.put_bool(process::is_initialized())
    }
}

entry! {
    Other fn MPI_Finalize() {
        let deleted = match process::is_in_world() {
            true => attr::delete_at_finalize(),
            false => Ok(()),
        };
        process::finalize()?;
        events::deliver(Safety::None);
        deleted
    }
}

entry! {
    None fn MPI_Finalized(flag: Out<Logical>) {
        flag.put_bool(process::is_finalized())
    }
}

entry! {
    None fn MPI_Query_thread(provided: Out<ThreadLevel>) {
        decode::running()?;
        provided.set(ThreadLevel(process::thread_level() as i32))
    }
}

entry! {
    None fn MPI_Is_thread_main(flag: Out<Logical>) {
        decode::running()?;
        flag.put_bool(process::is_main_thread())
    }
}

entry! {
    Other fn MPI_Abort(comm: Comm, errorcode: Int) {
        error_return::abort(comm, errorcode.0)
    }
}
