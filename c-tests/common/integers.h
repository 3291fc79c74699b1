/* Lists of predefined integers: TEST(c_type, datatype) for each of them. */
#ifndef OXMPI_INTEGERS_H
#define OXMPI_INTEGERS_H

#include <stdint.h>

/* Of C by their words. */
#define BASIC_INTEGERS(TEST) do { \
        TEST(signed char, MPI_SIGNED_CHAR); \
        TEST(unsigned char, MPI_UNSIGNED_CHAR); \
        TEST(short, MPI_SHORT); \
        TEST(unsigned short, MPI_UNSIGNED_SHORT); \
        TEST(int, MPI_INT); \
        TEST(unsigned, MPI_UNSIGNED); \
        TEST(long, MPI_LONG); \
        TEST(unsigned long, MPI_UNSIGNED_LONG); \
        TEST(long long, MPI_LONG_LONG); \
        TEST(unsigned long long, MPI_UNSIGNED_LONG_LONG); \
    } while (0)

/* Of addresses and counts. */
#define ADDRESS_INTEGERS(TEST) do { \
        TEST(MPI_Aint, MPI_AINT); \
        TEST(MPI_Offset, MPI_OFFSET); \
        TEST(MPI_Count, MPI_COUNT); \
    } while (0)

/* Of C. */
#define C_INTEGERS(TEST) do { \
        BASIC_INTEGERS(TEST); \
        ADDRESS_INTEGERS(TEST); \
        TEST(int8_t, MPI_INT8_T); \
        TEST(int16_t, MPI_INT16_T); \
        TEST(int32_t, MPI_INT32_T); \
        TEST(int64_t, MPI_INT64_T); \
        TEST(uint8_t, MPI_UINT8_T); \
        TEST(uint16_t, MPI_UINT16_T); \
        TEST(uint32_t, MPI_UINT32_T); \
        TEST(uint64_t, MPI_UINT64_T); \
    } while (0)

/* Of Fortran. */
#define FORTRAN_INTEGERS(TEST) do { \
        TEST(MPI_Fint, MPI_INTEGER); \
        TEST(int8_t, MPI_INTEGER1); \
        TEST(int16_t, MPI_INTEGER2); \
        TEST(int32_t, MPI_INTEGER4); \
        TEST(int64_t, MPI_INTEGER8); \
    } while (0)

#endif
