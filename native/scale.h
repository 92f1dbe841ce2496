/* SCALED: a size that no result depends on. Tests at small scale use the tiny value, which short texts reach. */
#ifndef BPE_SCALE_H
#define BPE_SCALE_H

#ifdef BPE_SMALL_SCALE
#define SCALED(usual, tiny) (tiny)
#else
#define SCALED(usual, tiny) (usual)
#endif

#endif
