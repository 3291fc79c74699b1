/* confine WHAT... -- PROGRAM ARGUMENTS...: runs a program where something is missing.
 *
 *   shm=64m        /dev/shm is a fresh file system of that size       shm=ro   ... that nobody may write to
 *   deny=EPERM:process_vm,membarrier,memfd,sibling                    these system calls fail so (a seccomp filter); sibling:
 *                                                                     clone with CLONE_PARENT
 *   core           one processor for all                             cores=2  ... so many at most
 *   quota=100000   a tree of control groups, as containers see it, that grants so many microseconds in 100 ms
 *   pid            a namespace of process ids of its own
 *   files=fuse     TMPDIR is a folder through bindfs; files=fuse_direct: without the page cache, so without mappings;
 *   files=tmpfs    ... a fresh tmpfs; files=overlay: an overlay over two folders
 *
 * What was asked for is tried out before the program starts. Exit code 77: this machine does not permit it (the reason is
 * printed); 79: the program left something in /dev/shm; else the program's, 128 + signal if one killed it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { not_permitted = 77, wrong_use = 78, left_behind = 79 };

static void refuse(const char *what)
{
    fprintf(stderr, "confine: %s: %s\n", what, strerror(errno));
    exit(not_permitted);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        refuse(path);
    close(fd);
}

/* Namespaces need root, or a user namespace in which one is. */
static void unshare_or_become_root(int flags)
{
    char map[64];
    unsigned user = getuid(), group = getgid();
    if (unshare(flags) == 0)
        return;
    if (unshare(flags | CLONE_NEWUSER) != 0)
        refuse("namespaces");
    write_file("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "%u %u 1", user, user);
    write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "%u %u 1", group, group);
    write_file("/proc/self/gid_map", map);
}

static void limit_shm(const char *kind)
{
    char options[64];
    int read_only = !strcmp(kind, "ro"), fd;
    unshare_or_become_root(CLONE_NEWNS);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        refuse("private mounts");
    snprintf(options, sizeof options, "size=%s", read_only ? "64m" : kind);
    if (mount("tmpfs", "/dev/shm", "tmpfs", read_only ? MS_RDONLY : 0, options) != 0)
        refuse("a file system on /dev/shm");
    fd = open("/dev/shm/trial", O_CREAT | O_RDWR, 0600);
    if ((fd < 0) != read_only || (read_only && errno != EROFS))
        refuse("/dev/shm is not as it was asked for");
    if (!read_only) {
        struct statvfs size;
        close(fd);
        unlink("/dev/shm/trial");
        if (statvfs("/dev/shm", &size) != 0 || size.f_blocks * size.f_frsize > 64ull << 20)
            refuse("/dev/shm is larger than it was asked for");
    }
}

static int left_in_shm(void)
{
    int found = 0;
    DIR *folder = opendir("/dev/shm");
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.') {
            fprintf(stderr, "confine: /dev/shm/%s was left behind\n", entry->d_name);
            found = 1;
        }
    return found;
}

static void must_fail(const char *name, int number, int expected)
{
    /* No arguments that could do anything if the filter were not there. */
    errno = 0;
    if (syscall(number, 0, 0, 0, 0, 0, 0) != -1 || errno != expected) {
        fprintf(stderr, "confine: the filter does not stop %s: errno %d\n", name, errno);
        exit(wrong_use);
    }
}

static void deny(const char *text)
{
    int code = !strncmp(text, "EPERM:", 6) ? EPERM : !strncmp(text, "ENOSYS:", 7) ? ENOSYS : 0;
    int memory = strstr(text, "process_vm") != NULL, barrier = strstr(text, "membarrier") != NULL;
    int file = strstr(text, "memfd") != NULL, sibling = strstr(text, "sibling") != NULL, length = 0;
    struct sock_filter filter[16];
    if (code == 0 || !(memory || barrier || file || sibling)) {
        fprintf(stderr, "confine: deny=%s is not understood\n", text);
        exit(wrong_use);
    }
    filter[length++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
#define STOP(number) do { \
        filter[length++] = (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1); \
        filter[length++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned) code); } while (0)
    if (memory) {
        STOP(SYS_process_vm_readv);
        STOP(SYS_process_vm_writev);
    }
    if (barrier)
        STOP(SYS_membarrier);
    if (file)
        STOP(SYS_memfd_create);
    if (sibling) {
        /* The C library's fork calls it too, without this flag, in the low half of the first argument. */
        filter[length++] = (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);
        filter[length++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]));
        filter[length++] = (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_PARENT, 0, 1);
        filter[length++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned) code);
    }
    filter[length++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = { (unsigned short) length, filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        refuse("a seccomp filter");
    if (memory) {
        must_fail("process_vm_readv", SYS_process_vm_readv, code);
        must_fail("process_vm_writev", SYS_process_vm_writev, code);
    }
    if (barrier)
        must_fail("membarrier", SYS_membarrier, code);
    if (file)
        must_fail("memfd_create", SYS_memfd_create, code);
    errno = 0;
    if (sibling && (syscall(SYS_clone, CLONE_PARENT | CLONE_SIGHAND, 0, 0, 0, 0) != -1 || errno != code)) {
        /* Without the filter the flags contradict each other: EINVAL. */
        fprintf(stderr, "confine: the filter does not stop clone: errno %d\n", errno);
        exit(wrong_use);
    }
}

static void limit_quota(const char *microseconds)
{
    FILE *file;
    unshare_or_become_root(CLONE_NEWNS);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        refuse("private mounts");
    if (mount("tmpfs", "/sys/fs/cgroup", "tmpfs", 0, "size=64k") != 0)
        refuse("a file system on /sys/fs/cgroup");
    file = fopen("/sys/fs/cgroup/cpu.max", "w");
    if (!file || fprintf(file, "%s 100000\n", microseconds) < 0 || fclose(file) != 0)
        refuse("/sys/fs/cgroup/cpu.max");
}

static void take_cores(int most)
{
    cpu_set_t all, some;
    int core, taken = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        refuse("the processors");
    CPU_ZERO(&some);
    for (core = 0; core < CPU_SETSIZE && taken < most; core++)
        if (CPU_ISSET(core, &all)) {
            CPU_SET(core, &some);
            taken++;
        }
    if (sched_setaffinity(0, sizeof some, &some) != 0)
        refuse("some processors");
}

/* The folder that files=... makes, with what it is mounted from. */
static char own_folder[64], mounted[128];

static void command(const char *format)
{
    char text[600];
    int status;
    snprintf(text, sizeof text, format, own_folder);
    status = system(text);
    if (status != 0) {
        fprintf(stderr, "confine: %s: ended with %d\n", text, WEXITSTATUS(status));
        exit(not_permitted);
    }
}

static void make_files(const char *kind)
{
    char options[400];
    snprintf(own_folder, sizeof own_folder, "/tmp/confine-XXXXXX");
    unshare_or_become_root(CLONE_NEWNS);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        refuse("private mounts");
    if (!mkdtemp(own_folder))
        refuse(own_folder);
    command("cd %s && mkdir lower upper work mounted");
    snprintf(mounted, sizeof mounted, "%s/mounted", own_folder);
    snprintf(options, sizeof options, "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work", own_folder, own_folder, own_folder);
    if (!strncmp(kind, "fuse", 4)) {
        /* Its descriptors would keep ours open. */
        command(kind[4] ? "cd %s && bindfs --no-allow-other -o direct_io upper mounted </dev/null >/dev/null 2>&1"
                        : "cd %s && bindfs --no-allow-other upper mounted </dev/null >/dev/null 2>&1");
    } else if (!strcmp(kind, "tmpfs") && mount("tmpfs", mounted, "tmpfs", 0, "size=256m") != 0)
        refuse("a tmpfs");
    else if (!strcmp(kind, "overlay") && mount("overlay", mounted, "overlay", 0, options) != 0) {
        command("rm -r %s");
        refuse("an overlay");
    }
    setenv("TMPDIR", mounted, 1);
}

/* Whether files were left there; all is removed. */
static int left_in_files(void)
{
    int found = 0;
    DIR *folder = opendir(mounted);
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.') {
            fprintf(stderr, "confine: %s/%s was left behind\n", mounted, entry->d_name);
            found = 1;
        }
    if (folder)
        closedir(folder);
    if (umount(mounted) != 0)
        refuse("unmounting");
    command("rm -r %s");
    return found;
}

static void execute(char **words)
{
    execvp(words[0], words);
    fprintf(stderr, "confine: %s: %s\n", words[0], strerror(errno));
    exit(127);
}

/* The program as a child that does not outlive us. */
static int run(char **words)
{
    int status;
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent && getppid() != 0)
            _exit(1);
        execute(words);
    }
    if (child < 0)
        refuse("fork");
    while (waitpid(child, &status, 0) != child)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    int at, watch_shm = 0, fork_first = 0, code;
    for (at = 1; at < argc && strcmp(argv[at], "--"); at++) {
        if (!strncmp(argv[at], "shm=", 4)) {
            limit_shm(argv[at] + 4);
            watch_shm = 1;
        } else if (!strncmp(argv[at], "deny=", 5)) {
            deny(argv[at] + 5);
        } else if (!strncmp(argv[at], "files=", 6)) {
            make_files(argv[at] + 6);
        } else if (!strcmp(argv[at], "core")) {
            take_cores(1);
        } else if (!strncmp(argv[at], "cores=", 6)) {
            take_cores(atoi(argv[at] + 6));
        } else if (!strncmp(argv[at], "quota=", 6)) {
            limit_quota(argv[at] + 6);
        } else if (!strcmp(argv[at], "pid")) {
            unshare_or_become_root(CLONE_NEWPID);
            fork_first = 1;
        } else {
            fprintf(stderr, "confine: %s is not understood\n", argv[at]);
            return wrong_use;
        }
    }
    if (at + 1 >= argc) {
        fprintf(stderr, "confine: no program\n");
        return wrong_use;
    }
    if (!watch_shm && !fork_first && !*own_folder)
        execute(argv + at + 1);
    code = run(argv + at + 1);
    if (*own_folder && left_in_files())
        return left_behind;
    return watch_shm && left_in_shm() ? left_behind : code;
}
