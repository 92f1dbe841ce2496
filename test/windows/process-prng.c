// A replacement of bcryptprimitives.dll, which Bun needs and wine lacks before version 9.
#include <windows.h>
#include <ntsecapi.h>

BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T size) {
  while (size > 0) {
    ULONG part = size > 1 << 20 ? 1 << 20 : (ULONG)size;
    if (!RtlGenRandom(bytes, part)) return FALSE;
    bytes += part;
    size -= part;
  }
  return TRUE;
}
