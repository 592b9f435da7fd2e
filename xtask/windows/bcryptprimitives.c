// Stands in for a library of Windows that Wine 8 lacks, in tests under Wine: the standard library of Rust takes random bytes from it.

#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length) { return RtlGenRandom(bytes, (ULONG)length); }
