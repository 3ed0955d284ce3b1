/* Holds a pod's namespaces until it is told to go, and reaps the pod's orphans. kubeadm's upgrade health check runs it
 * with -v and waits for it to end well. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave(int signal) { (void)signal; _exit(0); }
static void reap(int signal) { (void)signal; while (waitpid(-1, NULL, WNOHANG) > 0) {} }

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "-v") == 0) {
		puts("pause");
		return 0;
	}
	signal(SIGINT, leave);
	signal(SIGTERM, leave);
	signal(SIGCHLD, reap);
	for (;;)
		pause();
}
