/* The part of Python's stable ABI (PEP 384, as of Python 3.10) that the module uses, so that it can be compiled for
 * every platform without Python's own headers. */
#ifndef BPE_PYTHON_H
#define BPE_PYTHON_H

#include <stddef.h>
#include <stdint.h>

/* If Python's own headers are included before this one, only functions and data are declared here. */
#ifndef Py_PYTHON_H
#ifdef _WIN32
#define PyAPI_FUNC(type) __declspec(dllimport) type
#define PyAPI_DATA(type) extern __declspec(dllimport) type
#define PyMODINIT_FUNC __declspec(dllexport) PyObject *
#else
#define PyAPI_FUNC(type) type
#define PyAPI_DATA(type) extern type
#define PyMODINIT_FUNC __attribute__((visibility("default"))) PyObject *
#endif

typedef intptr_t Py_ssize_t;
typedef struct _object PyObject;
typedef struct _typeobject PyTypeObject;
typedef struct _ts PyThreadState;
typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
typedef PyObject *(*allocfunc)(PyTypeObject *, Py_ssize_t);
typedef void (*freefunc)(void *);
typedef int (*visitproc)(PyObject *, void *);
typedef int (*traverseproc)(PyObject *, visitproc, void *);
typedef int (*inquiry)(PyObject *);

struct _object {
  Py_ssize_t ob_refcnt;
  PyTypeObject *ob_type;
};
#define PyObject_HEAD PyObject ob_base;

typedef struct PyMethodDef {
  const char *ml_name;
  PyCFunction ml_meth;
  int ml_flags;
  const char *ml_doc;
} PyMethodDef;
enum { METH_VARARGS = 0x1, METH_NOARGS = 0x4, METH_O = 0x8, METH_FASTCALL = 0x80 };

typedef struct {
  int slot;
  void *pfunc;
} PyType_Slot;
typedef struct {
  const char *name;
  int basicsize, itemsize;
  unsigned int flags;
  PyType_Slot *slots;
} PyType_Spec;
enum { Py_tp_alloc = 47, Py_tp_dealloc = 52, Py_tp_methods = 64, Py_tp_new = 65, Py_tp_free = 74 };
enum { Py_TPFLAGS_DEFAULT = 0, Py_TPFLAGS_DISALLOW_INSTANTIATION = 1 << 7, Py_TPFLAGS_BYTES_SUBCLASS = 1 << 27, Py_TPFLAGS_UNICODE_SUBCLASS = 1 << 28 };

typedef struct PyModuleDef_Slot {
  int slot;
  void *value;
} PyModuleDef_Slot;
enum { Py_mod_exec = 2 };
typedef struct PyModuleDef_Base {
  PyObject ob_base;
  PyObject *(*m_init)(void);
  Py_ssize_t m_index;
  PyObject *m_copy;
} PyModuleDef_Base;
typedef struct PyModuleDef {
  PyModuleDef_Base m_base;
  const char *m_name, *m_doc;
  Py_ssize_t m_size;
  PyMethodDef *m_methods;
  PyModuleDef_Slot *m_slots;
  traverseproc m_traverse;
  inquiry m_clear;
  freefunc m_free;
} PyModuleDef;
#define PyModuleDef_HEAD_INIT {{1, NULL}, NULL, 0, NULL}
#endif

PyAPI_DATA(PyTypeObject) PyList_Type;
PyAPI_DATA(PyObject) _Py_NoneStruct;
PyAPI_DATA(PyObject *) PyExc_ImportError;
PyAPI_DATA(PyObject *) PyExc_MemoryError;
PyAPI_DATA(PyObject *) PyExc_TypeError;

PyAPI_FUNC(int) PyArg_ParseTuple(PyObject *, const char *, ...);
PyAPI_FUNC(PyObject *) PyBool_FromLong(long);
PyAPI_FUNC(char *) PyByteArray_AsString(PyObject *);
PyAPI_FUNC(PyObject *) PyByteArray_FromStringAndSize(const char *, Py_ssize_t);
PyAPI_FUNC(int) PyByteArray_Resize(PyObject *, Py_ssize_t);
PyAPI_FUNC(Py_ssize_t) PyByteArray_Size(PyObject *);
PyAPI_FUNC(char *) PyBytes_AsString(PyObject *);
PyAPI_FUNC(PyObject *) PyBytes_FromStringAndSize(const char *, Py_ssize_t);
PyAPI_FUNC(Py_ssize_t) PyBytes_Size(PyObject *);
PyAPI_FUNC(PyObject *) PyErr_Occurred(void);
PyAPI_FUNC(int) PyErr_CheckSignals(void);
PyAPI_FUNC(void) PyErr_Clear(void);
PyAPI_FUNC(PyObject *) PyErr_Format(PyObject *, const char *, ...);
PyAPI_FUNC(PyObject *) PyErr_NoMemory(void);
PyAPI_FUNC(void) PyErr_SetString(PyObject *, const char *);
PyAPI_FUNC(void) PyEval_RestoreThread(PyThreadState *);
PyAPI_FUNC(PyThreadState *) PyEval_SaveThread(void);
PyAPI_FUNC(PyObject *) PyList_GetItem(PyObject *, Py_ssize_t);
PyAPI_FUNC(PyObject *) PyList_GetSlice(PyObject *, Py_ssize_t, Py_ssize_t);
PyAPI_FUNC(PyObject *) PyList_New(Py_ssize_t);
PyAPI_FUNC(int) PyList_SetItem(PyObject *, Py_ssize_t, PyObject *);
PyAPI_FUNC(Py_ssize_t) PyList_Size(PyObject *);
PyAPI_FUNC(long) PyLong_AsLong(PyObject *);
PyAPI_FUNC(size_t) PyLong_AsSize_t(PyObject *);
PyAPI_FUNC(PyObject *) PyLong_FromSize_t(size_t);
PyAPI_FUNC(PyObject *) PyLong_FromUnsignedLong(unsigned long);
PyAPI_FUNC(int) PyModule_AddObject(PyObject *, const char *, PyObject *);
PyAPI_FUNC(PyObject *) PyModuleDef_Init(PyModuleDef *);
PyAPI_FUNC(void *) PyModule_GetState(PyObject *);
PyAPI_FUNC(PyObject *) PyNumber_Index(PyObject *);
PyAPI_FUNC(PyObject *) PyObject_GetIter(PyObject *);
PyAPI_FUNC(PyObject *) PyIter_Next(PyObject *);
PyAPI_FUNC(int) PyList_Append(PyObject *, PyObject *);
PyAPI_FUNC(void) PyObject_GC_UnTrack(void *);
PyAPI_FUNC(PyObject *) PyObject_GetAttrString(PyObject *, const char *);
PyAPI_FUNC(int) PyObject_IsTrue(PyObject *);
PyAPI_FUNC(PyObject *) PySequence_List(PyObject *);
PyAPI_FUNC(PyObject *) PySys_GetObject(const char *);
PyAPI_FUNC(PyObject *) PyType_FromModuleAndSpec(PyObject *, PyType_Spec *, PyObject *);
PyAPI_FUNC(unsigned long) PyType_GetFlags(PyTypeObject *);
PyAPI_FUNC(void *) PyType_GetModuleState(PyTypeObject *);
PyAPI_FUNC(void *) PyType_GetSlot(PyTypeObject *, int);
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *);
PyAPI_FUNC(PyObject *) PyUnicode_FromStringAndSize(const char *, Py_ssize_t);
PyAPI_FUNC(PyObject *) Py_BuildValue(const char *, ...);
PyAPI_FUNC(PyObject *) (Py_NewRef)(PyObject *);
PyAPI_FUNC(void) _Py_Dealloc(PyObject *);

/* Python's macros are part of the ABI, too: they change reference counts in place. */
#ifndef Py_PYTHON_H
#define Py_None (&_Py_NoneStruct)
#define Py_TYPE(object) (((PyObject *)(object))->ob_type)
#define Py_INCREF(object) ((void)((PyObject *)(object))->ob_refcnt++)
static inline void bpe_py_decref(PyObject *object) {
  if (--object->ob_refcnt == 0) _Py_Dealloc(object);
}
#define Py_DECREF(object) bpe_py_decref((PyObject *)(object))
static inline void bpe_py_xdecref(PyObject *object) {
  if (object != NULL) bpe_py_decref(object);
}
#define Py_XDECREF(object) bpe_py_xdecref((PyObject *)(object))
#define Py_CLEAR(object)                       \
  do {                                         \
    PyObject *bpe_py_old = (PyObject *)(object); \
    (object) = NULL;                           \
    bpe_py_xdecref(bpe_py_old);                \
  } while (0)
#define Py_VISIT(object)                                        \
  do {                                                          \
    int bpe_py_said = (object) == NULL ? 0 : visit((PyObject *)(object), arg); \
    if (bpe_py_said) return bpe_py_said;                        \
  } while (0)
#define PyList_CheckExact(object) (Py_TYPE(object) == &PyList_Type)
#define PyBytes_Check(object) ((PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_BYTES_SUBCLASS) != 0)
#define PyUnicode_Check(object) ((PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_UNICODE_SUBCLASS) != 0)
#define Py_BEGIN_ALLOW_THREADS { PyThreadState *bpe_py_thread = PyEval_SaveThread();
#define Py_END_ALLOW_THREADS PyEval_RestoreThread(bpe_py_thread); }
#endif
#endif
