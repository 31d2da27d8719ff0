"""Keys of one peer, made by libzmq, and how its sockets get them."""

import unittest

import zmq

HAS_CURVE = zmq.has("curve")
needs_curve = unittest.skipUnless(HAS_CURVE, "this libzmq is built without CURVE")


class Keys:
    """A pair of keys.  `server` and `client(of)` prepare a socket."""

    def __init__(self):
        self.public, self.secret = (key.decode("ascii") for key in zmq.curve_keypair())

    def write(self, directory, name):
        """FILE and FILE.pub as `kvgate keygen` writes them."""
        directory.write_secret(name, self.secret + "\n")
        directory.write(name + ".pub", self.public + "\n")
        return name

    def server(self, socket):
        socket.setsockopt(zmq.CURVE_SERVER, 1)
        socket.setsockopt_string(zmq.CURVE_SECRETKEY, self.secret)

    def client(self, of):
        def prepare(socket):
            socket.setsockopt_string(zmq.CURVE_PUBLICKEY, self.public)
            socket.setsockopt_string(zmq.CURVE_SECRETKEY, self.secret)
            socket.setsockopt_string(zmq.CURVE_SERVERKEY, of.public)
        return prepare


def plain(name, password):
    """A client that says who it is."""
    def prepare(socket):
        socket.setsockopt_string(zmq.PLAIN_USERNAME, name)
        socket.setsockopt_string(zmq.PLAIN_PASSWORD, password)
    return prepare
