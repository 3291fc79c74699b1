/* Random trees of datatypes against their type maps; what MPI_Type_get_contents says of them builds an equal type. */
#include "random_type.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int trees = argc > 1 ? atoi(argv[1]) : 500;
    uint64_t state = argc > 2 ? (uint64_t) atoi(argv[2]) : 1;
    for (int t = 0; t < (slow() ? 20 : trees) && !check_failures; t++) {
        uint64_t before = state;
        struct typed made = random_type(&state, 4), again = made;
        TYPED_CHECK(&made, 1 + t % 3);
        again.type = rebuilt(made.type);
        CHECK(again.type != made.type);
        TYPED_CHECK(&again, 1 + t % 2);
        if (check_failures)
            fprintf(stderr, "tree %d, made from state %llu\n", t, (unsigned long long) before);
        MPI(MPI_Type_free(&again.type));
        typed_free(&made);
    }
    return finish();
}
