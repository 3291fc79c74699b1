! Spawn, ports and names from Fortran: lists of texts with blanks around them, commands in the first dimension of an array of
! arguments, constants in place of arrays, and names of ports that are padded.
#include "fortran.h"
program spawns
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  T_COMM :: parent, children
  T_INFO :: infos(2)
  integer :: codes(3), processes(2), theirs, remote
  character(len=300) :: path
  character(len=304) :: commands(2)
  character(len=12) :: words(4), endless(2), lists(2, 3)
  character(len=MPI_MAX_PORT_NAME) :: port, found
  character(len=60) :: service

  call start()
  call MPI_Comm_get_parent(parent, ierr); OK
  if (parent /= MPI_COMM_NULL) then
    call child()
    call part(parent)
    call MPI_Finalize(ierr)
    stop
  end if
  call get_command_argument(0, path)

  ! Other ranks have no list that ends.
  words = [character(len=12) :: '  first', 'two words', '  third  ', '']
  endless = 'no end'
  codes = -7
  if (rank == size_ - 1) then
    call MPI_Comm_spawn('  '//path, words, 2, MPI_INFO_NULL, size_ - 1, MPI_COMM_WORLD, children, codes, ierr); OK
  else
    call MPI_Comm_spawn('', endless, -3, MPI_INFO_NULL, size_ - 1, MPI_COMM_WORLD, children, codes, ierr); OK
  end if
  CHECK(all(codes == [MPI_SUCCESS, MPI_SUCCESS, -7]))
  call MPI_Comm_remote_size(children, remote, ierr); OK
  CHECK(remote == 2)
  call part(children)
  CHECK(children == MPI_COMM_NULL)

  call MPI_Comm_spawn(path, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierr); OK
  call part(children)

  ! lists(i, :) are the arguments of commands(i).
  commands(1) = path
  commands(2) = ' '//path
  processes = [1, 2]
  infos = MPI_INFO_NULL
  lists(1, :) = [character(len=12) :: 'multiple', '0', '']
  lists(2, :) = [character(len=12) :: ' multiple', ' 1 ', '']
  codes = -7
  if (rank == 0) then
    call MPI_Comm_spawn_multiple(2, commands, lists, processes, infos, 0, MPI_COMM_WORLD, children, codes, ierr); OK
  else
    call MPI_Comm_spawn_multiple(huge(1), endless, lists, processes, infos, 0, MPI_COMM_WORLD, children, codes, ierr); OK
  end if
  CHECK(all(codes == MPI_SUCCESS))
  call MPI_Comm_remote_size(children, remote, ierr); OK
  CHECK(remote == 3)
  call part(children)
  call MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, processes, infos, 0, MPI_COMM_WORLD, children, &
                               MPI_ERRCODES_IGNORE, ierr); OK
  call part(children)

  ! A command that is not there.
  call return_errors()
  call MPI_Comm_spawn('/nowhere/program', MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes, ierr)
  FAILS(MPI_ERR_SPAWN)

  port = repeat('?', len(port))
  if (rank == 0) then
    call MPI_Open_port(MPI_INFO_NULL, port, ierr); OK
    CHECK(len_trim(port) > 0 .and. len_trim(port) < len(port) .and. index(port, '?') == 0)
  end if
  call MPI_Bcast(port, len(port), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr); OK
  service = 'service at '//port(max(1, len_trim(port) - 40):)
  if (rank == 0) then
    call MPI_Publish_name(service, MPI_INFO_NULL, port, ierr); OK
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  found = repeat('?', len(found))
  call MPI_Lookup_name(trim(service), MPI_INFO_NULL, found, ierr); OK
  CHECK(found == port)
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  if (rank == 0) then
    call MPI_Unpublish_name(service, MPI_INFO_NULL, port, ierr); OK
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  found = 'as before'
  call MPI_Lookup_name(service, MPI_INFO_NULL, found, ierr); FAILS(MPI_ERR_NAME)
  CHECK(found == 'as before')
  if (rank < 2 .and. size_ > 1) then
    if (rank == 0) call MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, children, ierr)
    if (rank == 1) call MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, children, ierr)
    OK
    call part(children)
  end if
  if (rank == 0) then
    call MPI_Close_port(port, ierr); OK
  end if
  call MPI_Comm_join(-1, children, ierr); FAILS(MPI_ERR_ARG)
  call finish()

contains

  subroutine child()
    character(len=20) :: word
    integer :: length, count
    count = command_argument_count()
    if (count == 0) return
    call get_command_argument(1, word, length)
    if (word == 'first') then
      CHECK(count == 3 .and. length == 5)
      call get_command_argument(2, word, length)
      CHECK(word == 'two words' .and. length == 9)
      call get_command_argument(3, word, length)
      CHECK(word == 'third' .and. length == 5)
    else
      CHECK(word == 'multiple' .and. length == 8 .and. count == 2)
      call get_command_argument(2, word, length)
      CHECK(length == 1 .and. word == merge('0', '1', rank == 0))
    end if
  end subroutine

  ! Both sides hear of each other's failures.
  subroutine part(comm)
    T_COMM :: comm
    theirs = -1
    call MPI_Allreduce(failures, theirs, 1, MPI_INTEGER, MPI_SUM, comm, ierr); OK
    CHECK(theirs == 0)
    call MPI_Comm_disconnect(comm, ierr); OK
  end subroutine

#include "check.inc"
end program
