/* Sizes that no result depends on: the usual one, or for tests at small scale a tiny one, which short texts reach. */
#ifndef BPE_SCALE_H
#define BPE_SCALE_H

#ifdef BPE_SMALL_SCALE
#define SCALED(usual, tiny) (tiny)
#else
#define SCALED(usual, tiny) (usual)
#endif

#endif
