# The queues of others that several scenarios measure.
find_package(Boost QUIET)
find_path(CONCURRENTQUEUE_INCLUDE_DIR concurrentqueue.h
  PATH_SUFFIXES concurrentqueue concurrentqueue/moodycamel)
find_path(READERWRITERQUEUE_INCLUDE_DIR readerwriterqueue.h PATH_SUFFIXES readerwriterqueue)
find_path(ATOMIC_QUEUE_INCLUDE_DIR atomic_queue/atomic_queue.h)
find_path(CPPZMQ_INCLUDE_DIR zmq.hpp)
find_library(ZEROMQ_LIBRARY zmq)
