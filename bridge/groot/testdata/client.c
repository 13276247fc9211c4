// A client of Groot2's protocol over libzmq. Each line of standard input is a request: a letter, and perhaps a blank with
// the second frame. Each frame of the answer is printed as a line > and hex digits, and an empty line after the last one.
#include <stdio.h>
#include <string.h>
#include <zmq.h>

int main(int count, char **arguments) {
  void *context = zmq_ctx_new();
  void *requests = zmq_socket(context, ZMQ_REQ);
  void *notices = zmq_socket(context, ZMQ_SUB);
  char line[4096];
  if (count != 3 || zmq_connect(requests, arguments[1]) || zmq_connect(notices, arguments[2]) ||
      zmq_setsockopt(notices, ZMQ_SUBSCRIBE, "", 0))
    return 1;
  while (fgets(line, sizeof line, stdin)) {
    size_t length = strcspn(line, "\n");
    char head[6] = {2, line[0], 'a', 'b', 'c', 'd'};
    int two = length > 1, more = 1;
    size_t size = sizeof more;
    zmq_send(requests, head, sizeof head, two ? ZMQ_SNDMORE : 0);
    if (two)
      zmq_send(requests, line + 2, length - 2, 0);
    while (more) {
      zmq_msg_t frame;
      zmq_msg_init(&frame);
      if (zmq_msg_recv(&frame, requests, 0) < 0)
        return 1;
      putchar('>');
      for (size_t i = 0; i < zmq_msg_size(&frame); i++)
        printf("%02x", ((unsigned char *)zmq_msg_data(&frame))[i]);
      puts("");
      zmq_getsockopt(requests, ZMQ_RCVMORE, &more, &size);
      zmq_msg_close(&frame);
    }
    puts("");
    fflush(stdout);
  }
  return 0;
}
