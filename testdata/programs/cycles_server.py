"""A threaded web server under load from its own threads; the core is taken in the middle of a request."""

import http.server
import json
import socketserver
import threading
import urllib.error
import urllib.request

import twin

ENOUGH = 400
requests_served = 0


class Session:
    def __init__(self, handler):
        self.handler = handler
        self.listeners = [self.changed]

    def changed(self):
        return self.handler.path


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global requests_served
        requests_served += 1
        self.session = Session(self)
        try:
            body = json.dumps({"path": self.path, "headers": dict(self.headers), "number": int(self.path.rpartition("/")[2])})
        except ValueError as error:
            self.error = error
            self.send_error(400, str(error))
            return
        if requests_served >= ENOUGH:
            twin.record("found.json", work="%d requests served, %d threads" % (requests_served, threading.active_count()))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *arguments):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def client(port):
    number = 0
    while True:
        number += 1
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d/item/%s" % (port, number if number % 7 else "none")) as answer:
                json.load(answer)
        except urllib.error.HTTPError as error:
            error.close()
        except OSError:
            pass


server = Server(("127.0.0.1", 0), Handler)
for _ in range(6):
    threading.Thread(target=client, args=(server.server_address[1],), daemon=True).start()
server.serve_forever()
