/* Bcast, Gather(v), Scatter(v), Allgather(v), Alltoall(v,w): from and to every rank, in place, in all forms, of integers side by
 * side and of a type with holes, on MPI_COMM_WORLD and on its ranks in reverse. */
#include "forms.h"

static MPI_Comm comm;
static MPI_Datatype type;
static int me, n, form, step; /* ints from one element to the next */

/* What rank r has for rank s, element i. */
static int value(int r, int s, int i)
{
    return r * 10000 + s * 100 + i + 1;
}

/* Elements of r for s where they differ, some of them none. */
static int uneven(int r, int s)
{
    return (r * 2 + s) % 3;
}

static int *memory(int elements)
{
    int *p = malloc(((size_t) elements * step + 1) * sizeof *p);
    for (int i = 0; i <= elements * step; i++)
        p[i] = -7;
    return p;
}

static void put(int *p, int at, int count, int r, int s)
{
    for (int i = 0; i < count; i++)
        p[(at + i) * step] = value(r, s, i);
}

/* Elements at `at` are those of r for s, and their holes are as they were. */
static void check(const int *p, int at, int count, int r, int s, int line)
{
    for (int i = 0; i < count; i++) {
        if (p[(at + i) * step] != value(r, s, i))
            check_failed(__FILE__, line, "form %d: element %d of %d for %d is %d, not %d", form, i, r, s, p[(at + i) * step], value(r, s, i));
        for (int hole = 1; hole < step; hole++)
            if (p[(at + i) * step + hole] != -7)
                check_failed(__FILE__, line, "form %d: a hole was written", form);
    }
}
#define HAS(p, at, count, r, s) check(p, at, count, r, s, __LINE__)

static void rooted(int count)
{
    int *own = memory(count > 2 ? count : 2), *all = memory(count * n), counts[64], displs[64], total = 0;
    for (int r = 0; r < n; r++) {
        counts[r] = uneven(r, count);
        displs[r] = total;
        total += counts[r] + 1;
    }
    int *spread = memory(total);
    for (int root = 0; root < n; root++) {
        int here = me == root;
        put(own, 0, count, here ? root : me, 1);
        FORM(form, Bcast, bcast, (own, count, type, root), comm);
        HAS(own, 0, count, root, 1);
        for (int place = 0; place < 2; place++) {
            void *from = place && here ? MPI_IN_PLACE : own;
            put(own, 0, count, me, 2);
            put(all, 0, count * n, 99, 9);
            if (place && here)
                put(all, me * count, count, me, 2);
            FORM(form, Gather, gather, (from, count, type, here ? all : NULL, here ? count : -5, here ? type : MPI_DATATYPE_NULL, root), comm);
            for (int r = 0; here && r < n; r++)
                HAS(all, r * count, count, r, 2);
            put(own, 0, count, 99, 9);
            for (int r = 0; r < n; r++)
                put(all, r * count, count, root, r);
            FORM(form, Scatter, scatter, (here ? all : NULL, here ? count : -5, here ? type : MPI_DATATYPE_NULL, from, count, type, root), comm);
            if (place && here)
                HAS(all, me * count, count, root, me);
            else
                HAS(own, 0, count, root, me);
            /* Of different sizes, with gaps, and in another order than the ranks'. */
            put(own, 0, counts[me], me, 3);
            put(spread, 0, total, 99, 9);
            if (place && here)
                put(spread, displs[me], counts[me], me, 3);
            FORM(form, Gatherv, gatherv, (from, counts[me], type, here ? spread : NULL, here ? counts : NULL, here ? displs : NULL, type, root), comm);
            for (int r = 0; here && r < n; r++) {
                HAS(spread, displs[r], counts[r], r, 3);
                CHECK_INT(spread[(displs[r] + counts[r]) * step], value(99, 9, displs[r] + counts[r]));
            }
            for (int r = 0; r < n; r++)
                put(spread, displs[r], counts[r], root, r);
            FORM(form, Scatterv, scatterv, (here ? spread : NULL, here ? counts : NULL, here ? displs : NULL, type, from, counts[me], type, root), comm);
            if (place && here)
                HAS(spread, displs[me], counts[me], root, me);
            else
                HAS(own, 0, counts[me], root, me);
        }
    }
    free(own);
    free(all);
    free(spread);
}

static void all_to_all(int count)
{
    int *out = memory(count * n), *in = memory(count * n), counts[64], displs[64], total = 0;
    for (int r = n - 1; r >= 0; r--) {
        counts[r] = uneven(r, count);
        displs[r] = total;
        total += counts[r] + 1;
    }
    int *own = memory(count > 2 ? count : 2), *spread = memory(total);
    for (int place = 0; place < 2; place++) {
        put(own, 0, count, me, 4);
        put(in, 0, count * n, 99, 9);
        put(in, me * count, count, me, 4);
        FORM(form, Allgather, allgather, (place ? MPI_IN_PLACE : own, place ? 0 : count, place ? MPI_DATATYPE_NULL : type, in, count, type), comm);
        for (int r = 0; r < n; r++)
            HAS(in, r * count, count, r, 4);
        put(own, 0, counts[me], me, 5);
        put(spread, 0, total, 99, 9);
        put(spread, displs[me], counts[me], me, 5);
        FORM(form, Allgatherv, allgatherv, (place ? MPI_IN_PLACE : own, counts[me], type, spread, counts, displs, type), comm);
        for (int r = 0; r < n; r++) {
            HAS(spread, displs[r], counts[r], r, 5);
            CHECK_INT(spread[(displs[r] + counts[r]) * step], value(99, 9, displs[r] + counts[r]));
        }
        for (int r = 0; r < n; r++) {
            put(out, r * count, count, me, r);
            put(in, r * count, count, me, r);
        }
        FORM(form, Alltoall, alltoall, (place ? MPI_IN_PLACE : out, count, type, in, count, type), comm);
        for (int r = 0; r < n; r++)
            HAS(in, r * count, count, r, me);
    }
    free(out);
    free(in);
    free(own);
    free(spread);
}

/* Alltoallv and Alltoallw; in place the sizes are the same in both directions. */
static void each_to_each(void)
{
    int outs[64], ins[64], out_at[64], in_at[64], out_bytes[64], in_bytes[64], sent = 0, received = 0;
    MPI_Datatype types[64];
    for (int place = 0; place < 2; place++) {
        sent = received = 0;
        for (int r = 0; r < n; r++) {
            outs[r] = place ? (me + r) % 3 : uneven(me, r);
            ins[r] = place ? (me + r) % 3 : uneven(r, me);
            out_at[r] = sent;
            in_at[r] = received;
            sent += outs[r] + 1;
            received += ins[r] + 1;
            types[r] = type;
            out_bytes[r] = out_at[r] * step * (int) sizeof(int);
            in_bytes[r] = in_at[r] * step * (int) sizeof(int);
        }
        int *out = memory(sent), *in = memory(received);
        for (int typed = 0; typed < 2; typed++) {
            put(in, 0, received, 99, 9);
            for (int r = 0; r < n; r++) {
                put(out, out_at[r], outs[r], me, r);
                if (place)
                    put(in, in_at[r], ins[r], me, r);
            }
            if (typed)
                FORM(form, Alltoallw, alltoallw, (place ? MPI_IN_PLACE : out, outs, out_bytes, types, in, ins, in_bytes, types), comm);
            else
                FORM(form, Alltoallv, alltoallv, (place ? MPI_IN_PLACE : out, outs, out_at, type, in, ins, in_at, type), comm);
            for (int r = 0; r < n; r++) {
                HAS(in, in_at[r], ins[r], r, me);
                CHECK_INT(in[(in_at[r] + ins[r]) * step], value(99, 9, in_at[r] + ins[r]));
            }
        }
        free(out);
        free(in);
    }
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 3, 60, 3000, 40000};
    MPI_Datatype holes, reversed_holes;
    MPI_Comm reversed;
    start(&argc, &argv);
    MPI(MPI_Type_contiguous(1, MPI_INT, &holes));
    MPI(MPI_Type_create_resized(holes, 0, 3 * sizeof(int), &reversed_holes));
    MPI(MPI_Type_commit(&reversed_holes));
    MPI(MPI_Type_free(&holes));
    MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
    /* with an argument, for algorithms one by one: the ranks in order, and in reverse with holes */
    for (int which = 0; which < 4; which += argc > 1 ? 3 : 1) {
        comm = which % 2 ? reversed : MPI_COMM_WORLD;
        type = which / 2 ? reversed_holes : MPI_INT;
        step = which / 2 ? 3 : 1;
        MPI(MPI_Comm_rank(comm, &me));
        MPI(MPI_Comm_size(comm, &n));
        for (form = 0; form < FORMS; form++) {
            for (int c = argc > 1; c < (slow() || (argc > 1 && which) ? 4 : which % 2 ? 5 : 6); c += argc > 1 ? 2 : 1) {
                rooted(counts[c]);
                all_to_all(counts[c]);
            }
            each_to_each();
        }
    }
    for (form = 0; form < FORMS; form++) {
        if (form == BLOCKING)
            MPI(MPI_Barrier(reversed));
        else {
            MPI_Request request;
            if (form == NONBLOCKING)
                MPI(MPI_Ibarrier(reversed, &request));
            else {
                MPI(MPI_Barrier_init(reversed, MPI_INFO_NULL, &request));
                MPI(MPI_Start(&request));
            }
            form_end(form, &request);
        }
    }
    MPI(MPI_Type_free(&reversed_holes));
    MPI(MPI_Comm_free(&reversed));
    return finish();
}
