//! Processes of other jobs: ports, accept and connect, join, spawn, and published names.
//!
//! Invariant: what is significant at the root alone is looked at there alone. A rank with a wrong argument takes part all the
//! same, so that no other rank waits.

use crate::comm::give;
use crate::constants::of_program::MPI_MAX_PORT_NAME;
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::comm::Comm as CommObject;
use oxmpi::dynamic::{self, Command, Spawned};
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::info::{self as infos, Info as Hints};
use std::ffi::{c_char, c_int};

entry! {
    UpdateRef fn MPI_Comm_get_parent(parent: Out<Comm>) {
        decode::running()?;
        parent.set(Comm(dynamic::parent()))
    }
}

/// A port's name as MPI_Open_port has given it.
fn port(name: *const c_char) -> Result<String> {
    const MOST: usize = MPI_MAX_PORT_NAME as usize - 1;
    let name = decode::text("port_name", Text(name))?;
    if name.len() > MOST {
        return fail!(
            Class::Port,
            "port_name has {} bytes; allowed are {MOST}",
            name.len()
        );
    }
    Ok(name)
}

/// Writes a port's name, which has room for MPI_MAX_PORT_NAME bytes.
fn put_port(port_name: TextOut, name: &str) -> Result<()> {
    port_name.write(name, MPI_MAX_PORT_NAME as usize).map(drop)
}

fn room(port_name: TextOut) -> Result<()> {
    if port_name.0.is_null() {
        return fail!(
            Class::Arg,
            "port_name is NULL; room for MPI_MAX_PORT_NAME bytes is needed"
        );
    }
    Ok(())
}

entry! {
    Own fn MPI_Open_port(info: Info, port_name: TextOut) {
        decode::running()?;
        room(port_name)?;
        put_port(port_name, &dynamic::open_port(&infos::hints(info.0)?)?)
    }
}

entry! {
    Own fn MPI_Close_port(port_name: Text) {
        decode::running()?;
        dynamic::close_port(&port(port_name.0)?)
    }
}

/// What the root alone says; `right` is what this rank has found of arguments that all ranks have.
fn at_root<T>(
    comm: &CommObject,
    root: &Result<c_int>,
    right: Result<()>,
    read: impl FnOnce() -> Result<T>,
) -> Result<Option<T>> {
    right?;
    match root {
        Ok(root) if *root == comm.rank() => read().map(Some),
        _ => Ok(None),
    }
}

fn port_and_hints(port_name: RootText, info: Info) -> Result<(String, Hints)> {
    Ok((port(port_name.0)?, infos::hints(info.0)?))
}

entry! {
    Collective fn MPI_Comm_accept(
        port_name: RootText, info: Info, root: Root, comm: Comm, newcomm: Out<Comm>,
    ) on comm {
        let comm = decode::intracomm("comm", comm)?;
        let root = decode::root(root, comm);
        let port = at_root(comm, &root, newcomm.not_null(), || port_and_hints(port_name, info));
        give(comm.handle, newcomm, Some(dynamic::accept(comm, root, port)?))
    }
}

entry! {
    Collective fn MPI_Comm_connect(
        port_name: RootText, info: Info, root: Root, comm: Comm, newcomm: Out<Comm>,
    ) on comm {
        let comm = decode::intracomm("comm", comm)?;
        let root = decode::root(root, comm);
        let port = at_root(comm, &root, newcomm.not_null(), || port_and_hints(port_name, info));
        give(comm.handle, newcomm, Some(dynamic::connect(comm, root, port)?))
    }
}

entry! {
    Collective fn MPI_Comm_join(fd: Int, intercomm: Out<Comm>) {
        decode::running()?;
        intercomm.not_null()?;
        if fd.0 < 0 {
            return fail!(Class::Arg, "fd is {}; a connected socket is needed", fd.0);
        }
        intercomm.set(Comm(dynamic::join(fd.0)?.handle))
    }
}

/// How many processes of a program are wanted.
fn processes(maxprocs: Int) -> Result<u32> {
    match u32::try_from(maxprocs.0) {
        Ok(processes) if processes > 0 => Ok(processes),
        _ => fail!(
            Class::Arg,
            "maxprocs is {}; at least one process is needed",
            maxprocs.0
        ),
    }
}

/// Writes the communicator, and the codes where they are wanted, which a failed spawn has too.
fn put_spawned(
    comm: &CommObject,
    spawned: Spawned,
    intercomm: Out<Comm>,
    codes: OutArray<ErrorCode>,
) -> Result<()> {
    if !codes.is_null() {
        let each = spawned.codes.into_iter();
        let each = each.flat_map(|(count, code)| std::iter::repeat_n(code, count as usize));
        for (index, code) in each.enumerate() {
            codes.put(index, ErrorCode(code))?;
        }
    }
    give(comm.handle, intercomm, Some(spawned.comm?))
}

entry! {
    Collective fn MPI_Comm_spawn(
        command: RootText, argv: TextArray, maxprocs: Int, info: Info, root: Root, comm: Comm,
        intercomm: Out<Comm>, array_of_errcodes: OutArray<ErrorCode>,
    ) on comm {
        let comm = decode::intracomm("comm", comm)?;
        let root = decode::root(root, comm);
        let commands = at_root(comm, &root, intercomm.not_null(), || {
            Ok(vec![Command {
                program: decode::text("command", Text(command.0))?,
                arguments: decode::argument_list("argv", argv.0)?,
                processes: processes(maxprocs)?,
                info: infos::hints(info.0)?,
            }])
        });
        let spawned = dynamic::spawn(comm, root, commands, "MPI_Comm_spawn");
        put_spawned(comm, spawned, intercomm, array_of_errcodes)
    }
}

/// The programs of MPI_Comm_spawn_multiple.
fn commands(
    count: Int,
    programs: TextArray,
    arguments: TextArrays,
    maxprocs: Array<Int>,
    infos: Array<Info>,
) -> Result<Vec<Command>> {
    if count.0 <= 0 {
        return fail!(
            Class::Arg,
            "count is {}; at least one command is needed",
            count.0
        );
    }
    if programs.0.is_null() {
        return fail!(
            Class::Arg,
            "array_of_commands is NULL; {} strings are needed",
            count.0
        );
    }
    let command = |index: usize| {
        // SAFETY: not null; the caller of the C function has `count` strings there.
        let program = unsafe { programs.0.add(index).read() };
        let arguments = match arguments.0.is_null() {
            // MPI_ARGVS_NULL
            true => std::ptr::null_mut(),
            // SAFETY: not null; the caller of the C function has `count` lists there.
            false => unsafe { arguments.0.add(index).read() },
        };
        Ok(Command {
            program: decode::text("array_of_commands", Text(program))?,
            arguments: decode::argument_list("array_of_argv", arguments)?,
            processes: processes(maxprocs.get(index)?)?,
            info: infos::hints(infos.get(index)?.0)?,
        })
    };
    (0..count.0 as usize).map(command).collect()
}

entry! {
    Collective fn MPI_Comm_spawn_multiple(
        count: Int, array_of_commands: TextArray, array_of_argv: TextArrays,
        array_of_maxprocs: Array<Int>, array_of_info: Array<Info>, root: Root, comm: Comm,
        intercomm: Out<Comm>, array_of_errcodes: OutArray<ErrorCode>,
    ) on comm {
        let comm = decode::intracomm("comm", comm)?;
        let root = decode::root(root, comm);
        let commands = at_root(comm, &root, intercomm.not_null(), || {
            commands(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info)
        });
        let spawned = dynamic::spawn(comm, root, commands, "MPI_Comm_spawn_multiple");
        put_spawned(comm, spawned, intercomm, array_of_errcodes)
    }
}

entry! {
    Own fn MPI_Publish_name(service_name: Text, info: Info, port_name: Text) {
        decode::running()?;
        let service = decode::text("service_name", service_name)?;
        dynamic::publish_name(&service, &infos::hints(info.0)?, &port(port_name.0)?)
    }
}

entry! {
    Own fn MPI_Lookup_name(service_name: Text, info: Info, port_name: TextOut) {
        decode::running()?;
        room(port_name)?;
        let service = decode::text("service_name", service_name)?;
        put_port(port_name, &dynamic::lookup_name(&service, &infos::hints(info.0)?)?)
    }
}

entry! {
    Own fn MPI_Unpublish_name(service_name: Text, info: Info, port_name: Text) {
        decode::running()?;
        let service = decode::text("service_name", service_name)?;
        dynamic::unpublish_name(&service, &infos::hints(info.0)?, &port(port_name.0)?)
    }
}
