// hold.exe FILE: keeps the file open until stdin ends. Meanwhile, others may only read it.
#include <stdio.h>
#include <windows.h>

int wmain(int count, wchar_t **arguments) {
  HANDLE file = CreateFileW(arguments[1], GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
  if (count != 2 || file == INVALID_HANDLE_VALUE) return 1;
  puts("held");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
