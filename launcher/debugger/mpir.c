/* What parallel debuggers look for in the process that the user has started (the MPIR process acquisition interface, version 1.1). In C and with
 * debugging information whatever the profile, for debuggers read the types. The functions of lower case are for src/mpiexec/mpir.rs.
 */
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *host_name;
    char *executable_name;
    int pid;
} MPIR_PROCDESC;

/* 1: by a debugger, before it lets this process go on. */
volatile int MPIR_being_debugged = 0;
MPIR_PROCDESC *MPIR_proctable = NULL;
int MPIR_proctable_size = 0;
/* 1: the table is there; 2: the job ends. */
volatile int MPIR_debug_state = 0;
char *MPIR_debug_abort_string = NULL;

/* That they are there is what they say: this process is no rank; ranks that nobody attaches to are let go by mpiexec; debuggers show main
 * first, and no queues of messages.
 */
int MPIR_i_am_starter = 0;
int MPIR_partial_attach_ok = 0;
int MPIR_force_to_main = 0;
int MPIR_ignore_queues = 0;

__attribute__((noinline)) void MPIR_Breakpoint(void)
{
    __asm__ volatile("" : : : "memory");
}

int oxmpi_mpir_is_debugged(void)
{
    /* So that the linker keeps them. */
    __asm__ volatile("" : : "r"(&MPIR_i_am_starter), "r"(&MPIR_partial_attach_ok), "r"(&MPIR_force_to_main), "r"(&MPIR_ignore_queues)
                     : "memory");
    return MPIR_being_debugged;
}

/* One more process in the table. It does not count before oxmpi_mpir_tell. */
int oxmpi_mpir_add(int number, const char *host, const char *executable, int pid)
{
    MPIR_PROCDESC *table = realloc(MPIR_proctable, (size_t) (number + 1) * sizeof *table);
    if (table == NULL)
        return 0;
    MPIR_proctable = table;
    table[number].host_name = strdup(host);
    table[number].executable_name = strdup(executable);
    table[number].pid = pid;
    return table[number].host_name != NULL && table[number].executable_name != NULL;
}

void oxmpi_mpir_tell(int size)
{
    MPIR_proctable_size = size;
    MPIR_debug_state = 1;
    MPIR_Breakpoint();
}

void oxmpi_mpir_abort(const char *text)
{
    MPIR_debug_abort_string = strdup(text);
    MPIR_debug_state = 2;
    MPIR_Breakpoint();
}
