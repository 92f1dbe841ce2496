/* Prints the constants and the layouts of structs that native/python/Python.h declares. If PYTHON_H is defined,
 * Python's own header comes first, so that declarations of ours that contradict it do not compile. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030a0000
#ifdef PYTHON_H
#include PYTHON_H
#endif
#include "../../native/python/Python.h"
#include <stdio.h>

#define SAY(what) printf("%s %ld\n", #what, (long)(what))
#define SAY_FIELD(type, field) printf("%s.%s %zu %zu\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field))

static PyModuleDef module = {PyModuleDef_HEAD_INIT, "name", NULL, 0, NULL, NULL, NULL, NULL, NULL};

int main(void) {
  SAY(METH_VARARGS), SAY(METH_NOARGS), SAY(METH_O), SAY(METH_FASTCALL);
  SAY(Py_tp_alloc), SAY(Py_tp_dealloc), SAY(Py_tp_methods), SAY(Py_tp_new), SAY(Py_tp_free), SAY(Py_mod_exec);
  SAY(Py_TPFLAGS_DEFAULT), SAY(Py_TPFLAGS_DISALLOW_INSTANTIATION), SAY(Py_TPFLAGS_BYTES_SUBCLASS), SAY(Py_TPFLAGS_UNICODE_SUBCLASS);
  SAY(sizeof(Py_ssize_t)), SAY(sizeof(PyObject)), SAY(sizeof(PyMethodDef)), SAY(sizeof(PyModuleDef)), SAY(sizeof(PyType_Spec));
  SAY(sizeof(PyModuleDef_Slot)), SAY(sizeof(PyType_Slot)), SAY(module.m_name != NULL);
  SAY_FIELD(PyObject, ob_refcnt), SAY_FIELD(PyObject, ob_type);
  SAY_FIELD(PyMethodDef, ml_name), SAY_FIELD(PyMethodDef, ml_meth), SAY_FIELD(PyMethodDef, ml_flags), SAY_FIELD(PyMethodDef, ml_doc);
  SAY_FIELD(PyType_Slot, slot), SAY_FIELD(PyType_Slot, pfunc), SAY_FIELD(PyModuleDef_Slot, slot), SAY_FIELD(PyModuleDef_Slot, value);
  SAY_FIELD(PyType_Spec, name), SAY_FIELD(PyType_Spec, basicsize), SAY_FIELD(PyType_Spec, itemsize);
  SAY_FIELD(PyType_Spec, flags), SAY_FIELD(PyType_Spec, slots);
  SAY_FIELD(PyModuleDef, m_base), SAY_FIELD(PyModuleDef, m_name), SAY_FIELD(PyModuleDef, m_doc), SAY_FIELD(PyModuleDef, m_size);
  SAY_FIELD(PyModuleDef, m_methods), SAY_FIELD(PyModuleDef, m_slots), SAY_FIELD(PyModuleDef, m_traverse);
  SAY_FIELD(PyModuleDef, m_clear), SAY_FIELD(PyModuleDef, m_free);
  return 0;
}
