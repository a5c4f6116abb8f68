# The libraries of others that several contenders link: where they are, and which package has them.
find_package(Boost QUIET)
find_package(TBB QUIET)
find_package(OpenMP QUIET)
find_path(CONCURRENTQUEUE_INCLUDE_DIR concurrentqueue.h
  PATH_SUFFIXES concurrentqueue concurrentqueue/moodycamel)
find_path(READERWRITERQUEUE_INCLUDE_DIR readerwriterqueue.h PATH_SUFFIXES readerwriterqueue)
find_path(ATOMIC_QUEUE_INCLUDE_DIR atomic_queue/atomic_queue.h)
find_path(CPPZMQ_INCLUDE_DIR zmq.hpp)
find_library(ZEROMQ_LIBRARY zmq)
find_path(NNG_INCLUDE_DIR nng/nng.h)
find_library(NNG_LIBRARY nng)
handoff_library(boost LIBRARIES Boost::headers PACKAGE libboost-dev IF Boost_FOUND)
handoff_library(onetbb LIBRARIES TBB::tbb PACKAGE libtbb-dev IF TBB_FOUND)
handoff_library(openmp LIBRARIES OpenMP::OpenMP_CXX PACKAGE libgomp1 IF OpenMP_CXX_FOUND)
handoff_library(concurrentqueue INCLUDE_DIR CONCURRENTQUEUE_INCLUDE_DIR
  PACKAGE libconcurrentqueue-dev)
handoff_library(readerwriterqueue INCLUDE_DIR READERWRITERQUEUE_INCLUDE_DIR
  PACKAGE libreaderwriterqueue-dev)
handoff_library(atomic_queue INCLUDE_DIR ATOMIC_QUEUE_INCLUDE_DIR PACKAGE libatomic-queue-dev)
handoff_library(nng INCLUDE_DIR NNG_INCLUDE_DIR LIBRARIES ${NNG_LIBRARY} PACKAGE libnng-dev
  IF NNG_LIBRARY)
