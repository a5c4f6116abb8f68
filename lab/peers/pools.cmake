# The pools that several scenarios measure: what each is made of, and what it needs.
find_path(ASIO_INCLUDE_DIR NAMES asio.hpp boost/asio.hpp)
find_path(PTHREADPOOL_INCLUDE_DIR pthreadpool.h)
find_library(PTHREADPOOL_LIBRARY pthreadpool)
# These no package brings: they are there where CMAKE_PREFIX_PATH or CMAKE_INCLUDE_PATH leads to
# them. enkiTS is found by what its own build installs, since its flags change its types.
handoff_find_header(TASKFLOW_INCLUDE_DIR taskflow/taskflow.hpp
  "tf::Executor executor(1); executor.async([&] { executor.task_group().corun(); }).get();")
handoff_find_header(BS_THREAD_POOL_INCLUDE_DIR BS_thread_pool.hpp
  "BS::light_thread_pool pool(1); pool.detach_task([] {}); pool.wait();")
find_package(enkiTS CONFIG QUIET)

foreach(mode IN ITEMS stealing fixed active cached)
  handoff_pool(own.pool.${mode} OwnPool<PoolMode::${mode}> peers/own_pool.hpp
    LIBRARIES handoff::handoff)
endforeach()
handoff_pool(own.thread_team OwnTeam peers/own_team.hpp LIBRARIES handoff::handoff)
# With HANDOFF_MPI=OFF the lab has none of them.
find_program(OPENMPI_RUN orterun)
set(HANDOFF_MPI_CONDITIONS PACKAGE "libopenmpi-dev openmpi-bin" IF HANDOFF_HAS_MPI OPENMPI_RUN)
handoff_pool(own.rank_team OwnRankTeam peers/own_rank_team.hpp
  LIBRARIES handoff::mpi MPI::MPI_CXX ${HANDOFF_MPI_CONDITIONS})
handoff_pool(peer.mpi_static MpiStatic peers/mpi_loops.hpp
  LIBRARIES MPI::MPI_CXX ${HANDOFF_MPI_CONDITIONS})
handoff_pool(peer.mpi_master_worker MpiMasterWorker peers/mpi_loops.hpp
  LIBRARIES MPI::MPI_CXX ${HANDOFF_MPI_CONDITIONS})
# Which Python and whether it has the module is known when it is started.
handoff_pool(peer.mpi4py_futures Mpi4pyTasks peers/mpi4py.hpp
  PACKAGE python3-mpi4py IF OPENMPI_RUN)
configure_file(peers/mpi4py_master.py ${HANDOFF_LIBEXEC_DIR}/lib/mpi4py_master.py COPYONLY)
if(HANDOFF_INSTALL)
  install(FILES peers/mpi4py_master.py DESTINATION libexec/handoff/lib COMPONENT lab)
endif()
handoff_pool(seed.pool.fixed SeedFixed peers/seed_queue_pool.hpp)
handoff_pool(seed.pool.cached SeedCached peers/seed_queue_pool.hpp)
handoff_pool(seed.pool.active SeedActive peers/seed_active_pool.hpp)
handoff_pool(peer.mutex_pool MutexPool peers/mutex_pool.hpp)
handoff_pool(peer.onetbb OneTbb peers/onetbb.hpp BY onetbb)
handoff_pool(peer.openmp OpenMp peers/openmp.hpp BY openmp)
handoff_pool(peer.asio Asio peers/asio.hpp
  INCLUDE_DIR ASIO_INCLUDE_DIR PACKAGE libasio-dev)
handoff_pool(peer.pthreadpool PThreadPool peers/pthreadpool.hpp
  LIBRARIES ${PTHREADPOOL_LIBRARY} INCLUDE_DIR PTHREADPOOL_INCLUDE_DIR
  PACKAGE libpthreadpool-dev IF PTHREADPOOL_LIBRARY)
handoff_library(taskflow LIBRARIES Threads::Threads INCLUDE_DIR TASKFLOW_INCLUDE_DIR
  PACKAGE "github.com/taskflow/taskflow, 4.0 or later")
handoff_pool(peer.taskflow Taskflow peers/taskflow.hpp BY taskflow)
handoff_pool(peer.bs_thread_pool BsThreadPool peers/bs_thread_pool.hpp
  LIBRARIES Threads::Threads INCLUDE_DIR BS_THREAD_POOL_INCLUDE_DIR
  PACKAGE "github.com/bshoshany/thread-pool, 5.0 or later")
handoff_pool(peer.enkits EnkiTs peers/enkits.hpp
  LIBRARIES enkiTS::enkiTS PACKAGE "github.com/dougbinks/enkiTS, built with ENKITS_INSTALL=ON"
  IF enkiTS_FOUND)

# The work that they are given.
handoff_shared_work(handoff_peers_work peers/kernel.cpp)
