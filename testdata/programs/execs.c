/* execs THREADS FILE: starts so many threads, adds a byte to the file, and calls exec of itself; and so on. What must be captured may do so at
   any moment (tests/real/capture.py). */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *sleeps(void *nothing)
{
    for (;;) usleep(1000);
    return nothing;
}

int main(int count, char **words)
{
    if (count < 3) return 2;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    for (int i = atoi(words[1]); i > 0; --i) {
        pthread_t thread;
        pthread_create(&thread, &small, sleeps, NULL);
    }
    int file = open(words[2], O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (file < 0 || write(file, ".", 1) != 1) return 1;
    close(file);
    usleep(2000);
    execv(words[0], words);
    return 1;
}
