/* Sizes that no result depends on: the usual one, or a tiny one for tests at small scale, which small texts reach. */
#ifndef BPE_SCALE_H
#define BPE_SCALE_H

#ifdef BPE_SMALL_SCALE
#define SCALED(usual, tiny) (tiny)
#else
#define SCALED(usual, tiny) (usual)
#endif

#endif
