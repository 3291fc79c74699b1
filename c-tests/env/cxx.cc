// A C++ program over the C interface: the header compiles as C++, constants are usable in constant expressions and switches.
#include "check.h"
#include <string>
#include <vector>

template <typename T> static MPI_Datatype type_of();
template <> MPI_Datatype type_of<int>() { return MPI_INT; }
template <> MPI_Datatype type_of<double>() { return MPI_DOUBLE; }
template <> MPI_Datatype type_of<bool>() { return MPI_CXX_BOOL; }

template <typename T> static T around(T value)
{
    T other{};
    MPI(MPI_Sendrecv(&value, 1, type_of<T>(), (rank + 1) % size, 1, &other, 1, type_of<T>(), (rank + size - 1) % size, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return other;
}

static void handler(MPI_Comm *, int *code, ...)
{
    MPI_Error_class(*code, code);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int left = (rank + size - 1) % size;
    CHECK_INT(around(rank), left);
    CHECK(around(rank * 0.5) == left * 0.5);
    CHECK(around(true));
    std::vector<int> all(size, -1);
    MPI(MPI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        CHECK_INT(all[i], i);
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK(std::string(name, length) == "MPI_COMM_WORLD");
    MPI_Errhandler errhandler;
    MPI(MPI_Comm_create_errhandler(handler, &errhandler));
    MPI(MPI_Errhandler_free(&errhandler));
    return finish();
}
