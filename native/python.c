/* The Python module bpe_trainer._native: the core as Python objects, for Python 3.10 and later (limited API). */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030a0000
#include <Python.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "core.h"

typedef struct {
  PyObject *model, *batch, *session;
} State;

#define STATE(self) ((State *)PyType_GetModuleState(Py_TYPE((PyObject *)(self))))

/* An instance, as a node of the list of idle instances. */
typedef struct Idle {
  Instance *instance;
  unsigned lane; /* the number of this instance: the lowest that was free when it was made; LANE_MAX if none was */
  struct Idle *next;
} Idle;

typedef struct {
  PyObject_HEAD
  PyObject *source; /* the bytes of the image */
  PyObject *error;  /* the exception class to raise */
  Image image;
  int specials_as_text; /* the default of calls: whether special tokens are encoded as text */
  Idle *idle;         /* sorted by lane; guarded by the GIL */
  uint64_t lanes;     /* bit n is set while lane n, below LANE_MAX, is taken */
  PyObject **numbers; /* the int object of each id that has occurred; otherwise NULL */
  Ids spare;          /* memory for the ids of one short text */
} Model;

static PyObject *raise(const Model *model, const char *message) {
  if (message == gave_up) return NULL; /* a signal handler has raised */
  if (message == no_memory) PyErr_SetString(PyExc_MemoryError, message);
  else PyErr_SetString(model->error, message);
  return NULL;
}

static void *new_object(PyTypeObject *type) { return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0); }

static void free_object(void *self) {
  PyTypeObject *type = Py_TYPE((PyObject *)self);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* ---- Instances ---- */

/* The lane of all instances that are made while lanes 0 to 62 are taken. */
enum { LANE_MAX = 63 };

static void leave_lane(Model *self, unsigned lane) {
  if (lane < LANE_MAX) self->lanes &= ~((uint64_t)1 << lane);
}

/* Returns the idle instance with the lowest lane, or a new one. On failure returns NULL and sets `*error`. */
static Idle *acquire(Model *self, const char **error) {
  Idle *idle = self->idle;
  if (idle != NULL) {
    self->idle = idle->next;
    return idle;
  }
  *error = no_memory;
  unsigned lane = 0;
  while (lane < LANE_MAX && (self->lanes >> lane & 1)) lane++;
  self->lanes |= (uint64_t)1 << lane;
  Py_BEGIN_ALLOW_THREADS
  idle = malloc(sizeof *idle);
  if (idle != NULL && (idle->instance = instance_new(&self->image, error)) == NULL) {
    free(idle);
    idle = NULL;
  }
  Py_END_ALLOW_THREADS
  if (idle != NULL) {
    idle->lane = lane;
    return idle;
  }
  leave_lane(self, lane);
  return NULL;
}

static void drop(Idle *idle) {
  instance_free(idle->instance);
  free(idle);
}

/* Puts an instance back on the list of idle ones. Frees it if it is large, or after an error, because it may then
 * contain an unfinished text. */
static void release(Model *self, Idle *idle, const char *error) {
  if (error != NULL || instance_is_large(idle->instance)) {
    leave_lane(self, idle->lane);
    drop(idle);
    return;
  }
  Idle **place = &self->idle;
  while (*place != NULL && (*place)->lane < idle->lane) place = &(*place)->next;
  idle->next = *place;
  *place = idle;
}

/* ---- Encoding ---- */

/* The size in bytes of the largest text that is encoded or edited without releasing the GIL. Batches always release the
 * GIL. */
enum { SHORT_TEXT = SCALED(1 << 14, 8) };

/* Returns the UTF-8 of a str, or the content of a bytes object, which need not be valid UTF-8. For other objects, and
 * for a str with a lone surrogate, sets a Python exception and returns NULL. */
static const char *utf8_of(PyObject *text, Py_ssize_t *size) {
  if (PyUnicode_Check(text)) return PyUnicode_AsUTF8AndSize(text, size);
  if (PyBytes_Check(text)) {
    *size = PyBytes_Size(text);
    return PyBytes_AsString(text);
  }
  PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(text), "__name__");
  if (name != NULL) PyErr_Format(PyExc_TypeError, "a text must be a string, found %S", name);
  Py_XDECREF(name);
  return NULL;
}

/* Runs pending signal handlers, if this is the main thread. Returns false if one raised an exception. */
static bool handle_signals(void *context) {
  PyThreadState **thread = context;
  PyEval_RestoreThread(*thread);
  bool is_well = PyErr_CheckSignals() == 0;
  *thread = PyEval_SaveThread();
  return is_well;
}

/* Like `handle_signals`, for work that holds the GIL. */
static bool handle_signals_held(void *context) {
  (void)context;
  return PyErr_CheckSignals() == 0;
}

/* What is computed from the ids of a text: its parts if `cutting` is not NULL, otherwise `spans`. */
typedef struct {
  bool in_characters; /* whether `spans` count characters; otherwise they count bytes */
  Span *spans;        /* set to one span for each id; the caller frees it */
  Cutting *cutting;   /* gets no parts if the text has at most `ids_max` ids */
} Use;

static const char *encode_and_use(Encoding *encoding, Use *use) {
  const char *error = encode_text(encoding);
  if (error != NULL || use == NULL) return error;
  size_t count = encoding->out->size / encoding->image->id_bytes;
  if (use->cutting != NULL) return count > use->cutting->ids_max ? cut_text(encoding, use->cutting) : NULL;
  use->spans = malloc((count + 1) * sizeof *use->spans);
  return use->spans == NULL ? no_memory : find_spans(encoding, use->in_characters, use->spans);
}

/* Encodes a text and appends its ids to `out`. On failure, sets a Python exception and returns false. `use` may be
 * NULL. */
static bool encode(Model *self, Encoding *encoding, Use *use) {
  const char *error;
  Idle *idle = acquire(self, &error);
  if (idle == NULL) {
    raise(self, error);
    return false;
  }
  encoding->image = &self->image;
  encoding->instance = idle->instance;
  if (encoding->size <= SHORT_TEXT) {
    error = encode_and_use(encoding, use);
  } else {
    PyThreadState *thread = PyEval_SaveThread();
    encoding->poll = (Poll){.ask = handle_signals, .context = &thread};
    error = encode_and_use(encoding, use);
    PyEval_RestoreThread(thread);
  }
  release(self, idle, error);
  if (error != NULL) raise(self, error);
  return error == NULL;
}

/* Takes the model's spare memory, which the caller owns until `give_spare`. Creating a Python object can run a
 * finalizer that encodes with this model. The finalizer then finds no spare memory, and allocates its own. */
static Ids take_spare(Model *self) {
  Ids spare = self->spare;
  self->spare = (Ids){0};
  spare.size = 0;
  return spare;
}

enum { SPARE_BYTES = SCALED(1 << 16, 16) };

static void give_spare(Model *self, Ids ids) {
  if (self->spare.bytes != NULL || ids.capacity > SPARE_BYTES) free(ids.bytes);
  else self->spare = ids;
}

/* Returns the int object of an id. The object of an id below `id_limit` is made once and then shared, which is four
 * times as fast as making a new object. */
static PyObject *number(Model *self, uint32_t id) {
  if (id >= self->image.id_limit) return PyLong_FromUnsignedLong(id);
  PyObject *object = self->numbers[id];
  if (object == NULL) {
    object = PyLong_FromUnsignedLong(id);
    if (object == NULL) return NULL;
    self->numbers[id] = object;
  }
  Py_INCREF(object);
  return object;
}

/* The layout of a list in Python 3.10 to 3.14. The limited API does not guarantee it, so in later versions each item
 * is set by a call. */
typedef struct {
  PyObject ob_base;
  Py_ssize_t ob_size;
  PyObject **ob_item;
} List;
static bool knows_lists;

/* Fills a new list with the objects of ids, up to the first id that has no object yet. Returns the number of items
 * filled. */
static inline size_t fill_known(PyObject **items, PyObject **numbers, uint32_t id_limit, const uint8_t *ids, uint32_t id_bytes, size_t count) {
  size_t i = 0;
  for (; i < count; i++) {
    uint32_t id = id_at(ids, id_bytes, i);
    PyObject *object = id < id_limit ? numbers[id] : NULL;
    if (object == NULL) break;
    Py_INCREF(object);
    items[i] = object;
  }
  return i;
}

/* Pending signals are handled after each OBJECTS_AT_ONCE objects, or in a list of ids after IDS_AT_ONCE ids. */
enum { OBJECTS_AT_ONCE = SCALED(1 << 16, 4), IDS_AT_ONCE = SCALED(1 << 22, 8) };

/* Handles signals after every OBJECTS_AT_ONCE objects. Returns true if a handler raised an exception. */
static bool is_interrupted(size_t done) { return done % OBJECTS_AT_ONCE == OBJECTS_AT_ONCE - 1 && PyErr_CheckSignals() != 0; }

/* Returns a list of the ids. The list is hidden from the garbage collector, because ints cannot form a cycle, and
 * scanning many such lists took a fifth of the time of a program that keeps them. */
static PyObject *list_of(Model *self, const uint8_t *ids, size_t size) {
  uint32_t id_bytes = self->image.id_bytes, id_limit = self->image.id_limit;
  size_t count = size / id_bytes;
  PyObject *list = PyList_New((Py_ssize_t)count);
  if (list != NULL) PyObject_GC_UnTrack(list);
  for (size_t i = 0, stop = 0; list != NULL && i < count; i++) {
    if (i >= stop) {
      if (stop > 0 && PyErr_CheckSignals() != 0) {
        Py_CLEAR(list);
        break;
      }
      stop = count - i < IDS_AT_ONCE ? count : i + IDS_AT_ONCE;
    }
    if (knows_lists) {
      PyObject **items = ((List *)list)->ob_item + i;
      const uint8_t *from = ids + i * id_bytes;
      i += id_bytes == 2 ? fill_known(items, self->numbers, id_limit, from, 2, stop - i)
                         : fill_known(items, self->numbers, id_limit, from, 4, stop - i);
      if (i == stop) {
        i--;
        continue;
      }
    }
    PyObject *object = number(self, id_at(ids, id_bytes, i));
    if (object == NULL) Py_CLEAR(list);
    else PyList_SetItem(list, (Py_ssize_t)i, object);
  }
  return list;
}

/* A converter for PyArg_ParseTuple: sets an int to the truth of an object. None leaves the int unchanged. */
static int set_flag(PyObject *given, void *flag) {
  int truth = given == Py_None ? *(int *)flag : PyObject_IsTrue(given);
  if (truth >= 0) *(int *)flag = truth;
  return truth >= 0;
}

/* encode(text, specials_as_text) -> list */
static PyObject *model_encode(Model *self, PyObject *const *args, Py_ssize_t count) {
  if (count != 2) return PyErr_Format(PyExc_TypeError, "encode takes a text and a truth value");
  Py_ssize_t size;
  const char *text = utf8_of(args[0], &size);
  int as_text = self->specials_as_text;
  if (text == NULL || !set_flag(args[1], &as_text)) return NULL;
  Ids ids = take_spare(self);
  Encoding encoding = {
      .specials_as_text = as_text, .text = (const uint8_t *)text, .size = (size_t)size, .out = &ids, .id_limit = SIZE_MAX};
  PyObject *list = encode(self, &encoding, NULL) ? list_of(self, ids.bytes, ids.size) : NULL;
  give_spare(self, ids);
  return list;
}

/* count(text, limit, specials_as_text) -> int: the number of ids, at most limit + 1; a limit of -1 means no limit */
static PyObject *model_count(Model *self, PyObject *args) {
  PyObject *argument;
  Py_ssize_t limit, size;
  int as_text = self->specials_as_text;
  if (!PyArg_ParseTuple(args, "OnO&", &argument, &limit, set_flag, &as_text)) return NULL;
  const char *text = utf8_of(argument, &size);
  if (text == NULL) return NULL;
  Ids ids = take_spare(self);
  size_t most = limit < 0 ? SIZE_MAX - 1 : (size_t)limit;
  Encoding encoding = {
      .specials_as_text = as_text, .text = (const uint8_t *)text, .size = (size_t)size, .out = &ids, .id_limit = most};
  bool is_done = encode(self, &encoding, NULL);
  size_t count = ids.size / self->image.id_bytes;
  give_spare(self, ids);
  return is_done ? PyLong_FromSize_t(count > most ? most + 1 : count) : NULL;
}

/* Returns a list of tuples (start, end). */
static PyObject *pairs_of(const Span *spans, size_t count) {
  PyObject *pairs = PyList_New((Py_ssize_t)count);
  if (pairs != NULL) PyObject_GC_UnTrack(pairs); /* A signal handler must not see the unfinished list. */
  for (size_t i = 0; pairs != NULL && i < count; i++) {
    PyObject *pair = is_interrupted(i) ? NULL : Py_BuildValue("(nn)", (Py_ssize_t)spans[i].start, (Py_ssize_t)spans[i].end);
    if (pair == NULL) Py_CLEAR(pairs);
    else PyList_SetItem(pairs, (Py_ssize_t)i, pair);
  }
  return pairs;
}

/* encode_with_offsets(text, in_characters, specials_as_text) -> (ids, spans) */
static PyObject *model_encode_with_offsets(Model *self, PyObject *args) {
  PyObject *argument, *result = NULL;
  int in_characters, as_text = self->specials_as_text;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "OpO&", &argument, &in_characters, set_flag, &as_text)) return NULL;
  const char *text = utf8_of(argument, &size);
  if (text == NULL) return NULL;
  Ids ids = take_spare(self);
  Notes notes = {0};
  Use use = {.in_characters = in_characters};
  Encoding encoding = {.specials_as_text = as_text,
                       .text = (const uint8_t *)text,
                       .size = (size_t)size,
                       .out = &ids,
                       .id_limit = SIZE_MAX,
                       .notes = &notes};
  if (encode(self, &encoding, &use))
    result = Py_BuildValue("(NN)", list_of(self, ids.bytes, ids.size), pairs_of(use.spans, ids.size / self->image.id_bytes));
  free(use.spans);
  notes_free(&notes);
  give_spare(self, ids);
  return result;
}

/* Unpacks the segments of a text. Each is packed into 64 bits: its end, and in the lowest bit whether it is trusted.
 * Returns NULL if there is no memory, if a segment is empty, if the segments do not cover exactly the text, or if
 * `size` is not a multiple of 8. */
static Segment *segments_of(const char *packed, size_t size, size_t text_size) {
  size_t count = size / 8, at = 0;
  Segment *segments = size % 8 == 0 ? calloc(count + 1, sizeof *segments) : NULL;
  for (size_t i = 0; segments != NULL && i < count; i++) {
    uint64_t number;
    memcpy(&number, packed + 8 * i, 8);
    size_t end = (size_t)(number >> 1);
    bool is_next = at < end && end <= text_size;
    segments[i] = (Segment){at = end, number & 1};
    if (is_next) continue;
    free(segments);
    segments = NULL;
  }
  if (segments == NULL || at == text_size) return segments;
  free(segments);
  return NULL;
}

/* encode_segments(data, segments) -> list; encode_segments(data, segments, in_characters) -> (ids, spans) */
static PyObject *model_encode_segments(Model *self, PyObject *args) {
  PyObject *text, *packed;
  int in_characters = -1;
  if (!PyArg_ParseTuple(args, "SS|p", &text, &packed, &in_characters)) return NULL;
  size_t size = (size_t)PyBytes_Size(text);
  Segment *segments = segments_of(PyBytes_AsString(packed), (size_t)PyBytes_Size(packed), size);
  if (segments == NULL) return PyErr_Format(PyExc_TypeError, "the segments do not match the text");
  Ids ids = take_spare(self);
  Notes notes = {0};
  Use use = {.in_characters = in_characters};
  Encoding encoding = {.segments = segments,
                       .text = (const uint8_t *)PyBytes_AsString(text),
                       .size = size,
                       .out = &ids,
                       .id_limit = SIZE_MAX,
                       .notes = in_characters < 0 ? NULL : &notes};
  PyObject *list = encode(self, &encoding, in_characters < 0 ? NULL : &use) ? list_of(self, ids.bytes, ids.size) : NULL;
  if (list != NULL && in_characters >= 0) list = Py_BuildValue("(NN)", list, pairs_of(use.spans, ids.size / self->image.id_bytes));
  free(use.spans);
  free(segments);
  notes_free(&notes);
  give_spare(self, ids);
  return list;
}

/* recoded_spans(given, canonical, is_same_text) -> list of (start, end, canonical_start, canonical_end). Given and
 * canonical ids are bytes objects, with 32 bits for each id. */
static PyObject *model_recoded_spans(Model *self, PyObject *args) {
  PyObject *given, *canonical;
  int is_same_text;
  if (!PyArg_ParseTuple(args, "SSp", &given, &canonical, &is_same_text)) return NULL;
  const char *error;
  Idle *idle = acquire(self, &error);
  if (idle == NULL) return raise(self, error);
  Recoding recoding = {.given = (const uint32_t *)PyBytes_AsString(given),
                       .canonical = (const uint32_t *)PyBytes_AsString(canonical),
                       .given_count = (size_t)PyBytes_Size(given) / 4,
                       .canonical_count = (size_t)PyBytes_Size(canonical) / 4,
                       .is_same_text = is_same_text};
  error = find_recoded_spans(idle->instance, &self->image, &recoding);
  release(self, idle, error);
  PyObject *list = error == NULL ? PyList_New((Py_ssize_t)recoding.span_count) : raise(self, error);
  for (size_t i = 0; list != NULL && i < recoding.span_count; i++) {
    const RecodedSpan *span = &recoding.spans[i];
    PyObject *item = Py_BuildValue("(IIII)", span->start, span->end, span->canonical_start, span->canonical_end);
    if (item == NULL) Py_CLEAR(list);
    else PyList_SetItem(list, (Py_ssize_t)i, item);
  }
  free(recoding.spans);
  return list;
}

/* Returns the parts of a text as strings. Raises if the last one has too many ids. */
static PyObject *strings_of(const Model *self, const char *text, const Cutting *cutting) {
  PyObject *strings = PyList_New(0);
  for (size_t i = 0; strings != NULL && i < cutting->count; i++) {
    Span part = cutting->parts[i];
    PyObject *string = is_interrupted(i) ? NULL : PyUnicode_FromStringAndSize(text + part.start, (Py_ssize_t)(part.end - part.start));
    if (string != NULL && i + 1 == cutting->count && cutting->too_many > 0) {
      PyErr_Format(self->error, "%R at byte %zu has %zu tokens: more than size, which is %u", string, (size_t)part.start,
                   cutting->too_many, cutting->ids_max);
      Py_CLEAR(string);
    }
    if (string == NULL || PyList_Append(strings, string) < 0) Py_CLEAR(strings);
    Py_XDECREF(string);
  }
  return strings;
}

/* cut(text, limit, which, overlap, specials_as_text) -> list: `[text]` if it has at most `limit` ids. Otherwise cuts
 * the text into parts of at most `limit` ids, and returns the first part (`which` is 0), the last (1), or all parts
 * (2). */
static PyObject *model_cut(Model *self, PyObject *args) {
  PyObject *argument, *parts = NULL;
  Py_ssize_t limit, overlap, size;
  int which, as_text = self->specials_as_text;
  if (!PyArg_ParseTuple(args, "OninO&", &argument, &limit, &which, &overlap, set_flag, &as_text)) return NULL;
  const char *text = utf8_of(argument, &size);
  if (text == NULL) return NULL;
  Ids ids = take_spare(self);
  Notes notes = {0};
  Cutting cutting = {.which = which, .ids_max = limit < INT32_MAX ? (uint32_t)limit : INT32_MAX, .overlap = (uint32_t)overlap};
  Encoding encoding = {.specials_as_text = as_text,
                       .text = (const uint8_t *)text,
                       .size = (size_t)size,
                       .out = &ids,
                       .id_limit = which == FIRST_PART ? cutting.ids_max : SIZE_MAX,
                       .notes = &notes};
  if (encode(self, &encoding, &(Use){.cutting = &cutting}))
    parts = cutting.count == 0 ? Py_BuildValue("[O]", argument) : strings_of(self, text, &cutting);
  free(cutting.parts);
  notes_free(&notes);
  give_spare(self, ids);
  return parts;
}

/* Returns `argument` itself if its type is list, otherwise a list of its items. Unlike `PySequence_List`, handles signals. */
static PyObject *as_list(PyObject *argument) {
  if (PyList_CheckExact(argument)) return Py_NewRef(argument);
  PyObject *items = PyObject_GetIter(argument), *list = items == NULL ? NULL : PyList_New(0), *item;
  for (size_t i = 0; list != NULL && (item = PyIter_Next(items)) != NULL; i++) {
    if (is_interrupted(i) || PyList_Append(list, item) < 0) Py_CLEAR(list);
    Py_DECREF(item);
  }
  if (list != NULL && PyErr_Occurred() != NULL) Py_CLEAR(list);
  Py_XDECREF(items);
  return list;
}

/* decode(ids) -> bytes */
static PyObject *model_decode(Model *self, PyObject *argument) {
  PyObject *ids = as_list(argument);
  if (ids == NULL) return NULL;
  const Image *image = &self->image;
  size_t size = 0, capacity = 256;
  char *bytes = malloc(capacity);
  if (bytes == NULL) PyErr_NoMemory();
  /* Reads the size each time, because `__index__` of an item may change the list. */
  for (Py_ssize_t i = 0; bytes != NULL && i < PyList_Size(ids); i++) {
    if (is_interrupted((size_t)i)) goto failed;
    PyObject *object = PyList_GetItem(ids, i);
    Py_INCREF(object);
    PyObject *whole = PyNumber_Index(object);
    Py_DECREF(object);
    if (whole == NULL) goto failed;
    size_t id = PyLong_AsSize_t(whole);
    if (id == (size_t)-1) PyErr_Clear();
    uint32_t start = 0, end = 0;
    if (id < image->id_limit) start = image->starts[id], end = image->starts[id + 1];
    if (start == end) {
      PyErr_Format(self->error,
                   "id %S at position %zd is not in the vocabulary\n"
                   "hint: give the tokenizer that the ids were made with; the largest id of this tokenizer is %ld",
                   whole, i, (long)image->id_limit - 1);
      Py_DECREF(whole);
      goto failed;
    }
    Py_DECREF(whole);
    if (end - start > capacity - size) {
      capacity = 2 * capacity + (end - start);
      char *more = realloc(bytes, capacity);
      if (more == NULL) {
        PyErr_NoMemory();
        goto failed;
      }
      bytes = more;
    }
    memcpy(bytes + size, image->tokens + start, end - start);
    size += end - start;
  }
  PyObject *decoded = bytes == NULL ? NULL : PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
  free(bytes);
  Py_DECREF(ids);
  return decoded;
failed:
  free(bytes);
  Py_DECREF(ids);
  return NULL;
}

/* ---- Batches: texts that several threads encode, part by part ---- */

/* Texts are added to a part until it has PART_BYTES. If there are several threads, a text of at least LONG_BYTES is
 * divided into slices of about PART_BYTES, as far as it can be cut. */
enum { PART_BYTES = SCALED(1 << 18, 32), LONG_BYTES = SCALED(1 << 20, 64) };

/* A part of a batch: whole texts, or a slice of one long text or of a file. */
typedef struct {
  Py_ssize_t first, end;
  const char *slice;        /* NULL: whole texts */
  size_t size;              /* bytes of the slice */
  uint8_t lookahead_size;   /* number of bytes after the slice that its last token may depend on */
  PyObject *data;           /* the bytes object that contains a slice of a file */
  Py_ssize_t appended;      /* id to append to a slice of a file; -1: none */
  Ids ids;                  /* the ids, until they are put into the list or the array */
  bool is_taken, is_done;
} Part;

typedef struct {
  const char *utf8;
  size_t size;
  size_t id_count;
} Text;

typedef struct {
  PyObject_HEAD
  Model *model;
  PyObject *texts; /* a copy of the caller's list, so that it cannot change */
  PyObject *lists; /* the list of ids of each text; NULL if the result is an array */
  bool specials_as_text;
  Text *entries; /* for each text: its bytes, and the number of its ids */
  Py_ssize_t count;
  Part *parts;
  Py_ssize_t part_count, part_capacity, next_part; /* all parts before `next_part` are taken */
  unsigned width;         /* number of threads that the caller will use */
  unsigned working;       /* number of threads that have an instance now */
  Py_ssize_t done;        /* number of parts that are encoded */
  PyObject *array;        /* the ids of the first `placed` parts, end to end */
  size_t array_size, expected_parts;
  Py_ssize_t placed;
  Ids spare;              /* memory for the ids of a part */
  atomic_bool is_stopped; /* all threads stop, because one has failed, or the caller has given up */
} Batch;

static void batch_dealloc(Batch *self) {
  for (Py_ssize_t part = 0; part < self->part_count; part++) {
    free(self->parts[part].ids.bytes);
    Py_XDECREF(self->parts[part].data);
  }
  free(self->parts);
  free(self->entries);
  free(self->spare.bytes);
  Py_XDECREF(self->texts);
  Py_XDECREF(self->lists);
  Py_XDECREF(self->array);
  Py_XDECREF((PyObject *)self->model);
  free_object(self);
}

/* Returns the `lookahead_size` of a slice with `left` bytes after it. The last token before a safe cut depends on at
 * most one character after the cut, which has at most four bytes. */
static uint8_t lookahead_size(size_t left) { return left < 4 ? (uint8_t)left : 4; }

static bool add_part(Batch *self, Part part) {
  if (self->part_count == self->part_capacity) {
    Py_ssize_t capacity = 2 * self->part_capacity + 16;
    Part *parts = realloc(self->parts, (size_t)capacity * sizeof *parts);
    if (parts == NULL) return false;
    self->parts = parts;
    self->part_capacity = capacity;
  }
  self->parts[self->part_count++] = part;
  return true;
}

/* Adds the slices of a long text to the batch. The text is divided at safe cuts. On failure, sets a Python exception
 * and returns false. */
static bool add_slices(Batch *self, Py_ssize_t which) {
  const Text *text = &self->entries[which];
  Poll poll = {.ask = handle_signals_held};
  const char *error;
  Idle *idle = acquire(self->model, &error);
  if (idle == NULL) {
    raise(self->model, error);
    return false;
  }
  error = NULL;
  for (size_t from = 0, to; from < text->size && error == NULL; from = to) {
    to = text->size;
    if (text->size - from >= 2 * PART_BYTES)
      error = find_cut(idle->instance, &self->model->image, self->specials_as_text, (const uint8_t *)text->utf8, text->size, from + PART_BYTES, true, &to);
    Part slice = {.first = which, .end = which + 1, .slice = text->utf8 + from, .size = to - from, .lookahead_size = lookahead_size(text->size - to)};
    if (error == NULL && !add_part(self, slice)) error = no_memory;
    if (error == NULL && !should_continue(&poll, PART_BYTES / 8)) error = gave_up;
  }
  release(self->model, idle, error);
  if (error != NULL) raise(self->model, error);
  return error == NULL;
}

/* Divides all texts into parts. Returns false on failure; if no Python exception is set then, there is no memory. */
static bool plan_parts(Batch *self, bool cuts_texts) {
  Py_ssize_t first = 0;
  size_t size = 0;
  for (Py_ssize_t i = 0; i < self->count; i++) {
    bool is_sliced = cuts_texts && self->entries[i].size >= LONG_BYTES;
    size += self->entries[i].size;
    if (is_sliced) {
      if (i > first && !add_part(self, (Part){.first = first, .end = i})) return false;
      if (!add_slices(self, i)) return false;
    } else if (size < PART_BYTES && i + 1 < self->count) {
      continue;
    } else if (!add_part(self, (Part){.first = first, .end = i + 1})) {
      return false;
    }
    first = i + 1;
    size = 0;
  }
  return true;
}

static Batch *new_batch(Model *self, PyObject *texts, int specials_as_text, unsigned width) {
  Batch *batch = texts == NULL ? NULL : new_object((PyTypeObject *)STATE(self)->batch);
  if (batch == NULL) {
    Py_XDECREF(texts);
    return NULL;
  }
  Py_INCREF((PyObject *)self);
  batch->model = self;
  batch->texts = texts;
  batch->specials_as_text = specials_as_text;
  batch->width = width > 0 ? width : 1;
  batch->count = PyList_Size(texts);
  batch->entries = calloc((size_t)batch->count + 1, sizeof *batch->entries);
  batch->array = PyByteArray_FromStringAndSize(NULL, 0);
  if (batch->entries != NULL && batch->array != NULL) return batch;
  Py_DECREF((PyObject *)batch);
  PyErr_NoMemory();
  return NULL;
}

/* batch(texts, specials_as_text, wants_lists, threads) -> Batch */
static PyObject *model_batch(Model *self, PyObject *args) {
  PyObject *argument;
  int as_text = self->specials_as_text, wants_lists;
  unsigned width;
  if (!PyArg_ParseTuple(args, "OO&pI", &argument, set_flag, &as_text, &wants_lists, &width)) return NULL;
  Batch *batch = new_batch(self, PySequence_List(argument), as_text, width);
  if (batch == NULL) return NULL;
  /* The list starts as a copy of `texts`. It must have no NULL items, because other code can find it through the
   * garbage collector. */
  if (wants_lists && (batch->lists = PyList_GetSlice(batch->texts, 0, batch->count)) == NULL) goto failed;
  for (Py_ssize_t i = 0; i < batch->count; i++) {
    Py_ssize_t size;
    batch->entries[i].utf8 = utf8_of(PyList_GetItem(batch->texts, i), &size);
    if (batch->entries[i].utf8 == NULL) goto failed;
    batch->entries[i].size = (size_t)size;
  }
  if (!plan_parts(batch, width > 1)) {
    if (PyErr_Occurred() == NULL) PyErr_NoMemory();
    goto failed;
  }
  batch->expected_parts = (size_t)batch->part_count;
  return (PyObject *)batch;
failed:
  Py_DECREF((PyObject *)batch);
  return NULL;
}

/* file(size, threads) -> Batch: an empty one, to which `add` will add about `size` bytes of files */
static PyObject *model_file(Model *self, PyObject *args) {
  Py_ssize_t size;
  unsigned width;
  if (!PyArg_ParseTuple(args, "nI", &size, &width)) return NULL;
  Batch *batch = new_batch(self, PyList_New(0), self->specials_as_text, width);
  if (batch != NULL) batch->expected_parts = (size_t)size / PART_BYTES + 1;
  return (PyObject *)batch;
}

/* add(data, is_end, id) -> int: adds a slice of a file, and returns its size. If the file ends with the data, the
 * slice is all of it, followed by an id unless that is -1. Otherwise the slice ends at a safe cut; 0 means that no
 * cut was found, and more data is needed. */
static PyObject *batch_add(Batch *self, PyObject *args) {
  PyObject *data;
  int is_end;
  Py_ssize_t id;
  if (!PyArg_ParseTuple(args, "Spn", &data, &is_end, &id)) return NULL;
  const char *text = PyBytes_AsString(data);
  size_t size = (size_t)PyBytes_Size(data), to = size;
  if (!is_end) {
    size_t from = size / 2 > PART_BYTES ? size / 2 : PART_BYTES;
    const char *error;
    Idle *idle = acquire(self->model, &error);
    if (idle == NULL) return raise(self->model, error);
    error = from < size ? find_cut(idle->instance, &self->model->image, false, (const uint8_t *)text, size, from, false, &to) : NULL;
    release(self->model, idle, error);
    if (error != NULL) return raise(self->model, error);
    if (to == size) return PyLong_FromSize_t(0);
  }
  Py_INCREF(data);
  if (add_part(self, (Part){.slice = text, .size = to, .lookahead_size = lookahead_size(size - to), .data = data, .appended = is_end ? id : -1}))
    return PyLong_FromSize_t(to);
  Py_DECREF(data);
  return PyErr_NoMemory();
}

/* A thread that works on a batch without holding the GIL. */
typedef struct {
  Batch *batch;
  PyThreadState *thread;
  size_t unasked; /* steps that its poll has counted since the last call of `ask` */
} Worker;

/* Returns false if the batch is stopped, or a signal handler has raised. */
static bool batch_may_continue(void *context) {
  Worker *worker = context;
  return !atomic_load(&worker->batch->is_stopped) && handle_signals(&worker->thread);
}

/* Encodes a text, or a slice of one, without holding the GIL. `following_size` bytes after the slice may be read. */
static const char *encode_piece(Batch *self, Instance *instance, const char *text, size_t size, uint8_t following_size, Ids *out, Worker *worker) {
  Encoding encoding = {.image = &self->model->image,
                       .instance = instance,
                       .specials_as_text = self->specials_as_text,
                       .text = (const uint8_t *)text,
                       .size = size,
                       .following = following_size > 0 ? (const uint8_t *)text + size : NULL,
                       .following_size = following_size,
                       .out = out,
                       .id_limit = SIZE_MAX,
                       .poll = {.ask = batch_may_continue, .context = worker, .unasked = worker->unasked}};
  const char *error = encode_text(&encoding);
  worker->unasked = encoding.poll.unasked; /* carries over, so that many short texts also lead to a call of `ask` */
  return error;
}

/* Encodes a part without holding the GIL. Sets the number of ids of each whole text. */
static const char *encode_part(Batch *self, Instance *instance, const Part *part, Ids *out, Worker *worker) {
  size_t id_bytes = self->model->image.id_bytes;
  if (part->slice != NULL) {
    const char *error = encode_piece(self, instance, part->slice, part->size, part->lookahead_size, out, worker);
    if (error != NULL || part->data == NULL || part->appended < 0) return error;
    if (!ids_reserve(out, id_bytes)) return no_memory;
    memcpy(out->bytes + out->size, &part->appended, id_bytes); /* little-endian, as the kernel's */
    out->size += id_bytes;
    return NULL;
  }
  for (Py_ssize_t i = part->first; i < part->end; i++) {
    Text *text = &self->entries[i];
    size_t before = out->size;
    const char *error = encode_piece(self, instance, text->utf8, text->size, 0, out, worker);
    if (error != NULL) return error;
    text->id_count = (out->size - before) / id_bytes;
  }
  return NULL;
}

/* Puts the ids of whole texts into the lists of the batch. On failure, sets a Python exception and returns false. */
static bool list_part(Batch *self, const Part *part, const Ids *ids) {
  const uint8_t *at = ids->bytes;
  PyObject *list = Py_None;
  for (Py_ssize_t i = part->first; i < part->end && list != NULL; i++) {
    size_t size = self->entries[i].id_count * self->model->image.id_bytes;
    list = list_of(self->model, at, size);
    if (list != NULL) PyList_SetItem(self->lists, i, list);
    at += size;
  }
  return list != NULL;
}

/* An array gets huge pages if its size is in this range. Encoding 10 MB again took 18.9 ms with them, and 20.9 ms
 * without. A larger array may need more huge pages than the system has ready, which takes longer. */
enum { HUGE_ARRAY_LEAST = SCALED(1 << 22, 1 << 12), HUGE_ARRAY_MOST = SCALED(1 << 24, 1 << 14) };

/* Marks a part as done, and appends to the array the ids of all parts that are done, up to the first that is not.
 * Takes over the memory of `ids`, and replaces it by memory for the next part, if there is any to spare. On failure,
 * sets a Python exception and returns false. */
static bool place(Batch *self, Py_ssize_t number, Ids *ids) {
  Part *part = &self->parts[number];
  if (part->slice != NULL && part->data == NULL) self->entries[part->first].id_count += ids->size / self->model->image.id_bytes;
  Py_CLEAR(part->data);
  part->ids = *ids;
  part->is_done = true;
  *ids = (Ids){0};
  for (; self->placed < self->part_count && self->parts[self->placed].is_done; self->placed++) {
    Ids *next = &self->parts[self->placed].ids;
    size_t size = self->array_size + next->size, room = (size_t)PyByteArray_Size(self->array);
    /* The array gets a quarter more than its expected size. Memory that is never written costs nothing, but an array
     * that grows may have to be moved. */
    size_t expected = size / (size_t)(self->placed + 1) * self->expected_parts, more = size < expected ? expected : size;
    more += more / 4;
    if (size > room && PyByteArray_Resize(self->array, (Py_ssize_t)more) < 0) return false;
    bool is_huge = more >= HUGE_ARRAY_LEAST && more <= HUGE_ARRAY_MOST;
    if (size > room && is_huge) advise_huge((uint8_t *)PyByteArray_AsString(self->array), more);
    if (next->size > 0) memcpy(PyByteArray_AsString(self->array) + self->array_size, next->bytes, next->size);
    self->array_size = size;
    Ids *keeper = ids->bytes == NULL ? ids : &self->spare;
    if (keeper->bytes == NULL) *keeper = *next;
    else free(next->bytes);
    *next = (Ids){0};
  }
  if (ids->bytes == NULL) {
    *ids = self->spare;
    self->spare = (Ids){0};
  }
  return true;
}

/* A call of `work` encodes at most PARTS_AT_ONCE parts. PARTS_OF_LANE consecutive parts are meant for one instance,
 * because adjacent text is often in one language, whose words are then in the instance's cache. */
enum { PARTS_AT_ONCE = SCALED(32, 2), PARTS_OF_LANE = SCALED(8, 1) };

/* Takes a part for the instance with this lane. Returns its index, or -1 if none is left. */
static Py_ssize_t take_part(Batch *self, unsigned lane) {
  Py_ssize_t number = self->next_part, end = number + (Py_ssize_t)self->width * PARTS_OF_LANE;
  if (end > self->part_count) end = self->part_count;
  while (number < end && (self->parts[number].is_taken || (unsigned)(number / PARTS_OF_LANE) % self->width != lane % self->width)) number++;
  if (number == end) number = self->next_part;
  if (number == self->part_count) return -1;
  self->parts[number].is_taken = true;
  while (self->next_part < self->part_count && self->parts[self->next_part].is_taken) self->next_part++;
  return number;
}

static void stop(Batch *self) {
  atomic_store(&self->is_stopped, true);
  self->next_part = self->part_count;
}

/* work() -> bool: encodes some parts, and returns whether the thread should call it again. Several threads may call it
 * at once. */
static PyObject *batch_work(Batch *self, PyObject *unused) {
  (void)unused;
  if (self->next_part == self->part_count) return PyBool_FromLong(false);
  const char *error;
  Idle *idle = acquire(self->model, &error);
  if (idle == NULL) {
    /* This thread has taken no part, so the threads that have an instance will encode all parts. */
    if (self->working > 0 && error == no_memory) return PyBool_FromLong(false);
    return raise(self->model, error);
  }
  self->working++;
  error = NULL;
  bool is_taken = true;
  Ids ids = self->spare;
  self->spare = (Ids){0};
  for (int turn = 0; turn < PARTS_AT_ONCE && error == NULL && is_taken; turn++) {
    Py_ssize_t number = take_part(self, idle->lane);
    if (number < 0) break;
    /* A copy: while the GIL is not held, the array of parts may grow and move. */
    Part part = self->parts[number];
    ids.size = 0;
    Worker worker = {.batch = self, .thread = PyEval_SaveThread()};
    error = encode_part(self, idle->instance, &part, &ids, &worker);
    PyEval_RestoreThread(worker.thread);
    if (error != NULL) break;
    if (self->lists == NULL) {
      is_taken = place(self, number, &ids);
    } else if (part.slice == NULL) {
      is_taken = list_part(self, &part, &ids);
    } else {
      self->parts[number].ids = ids;
      ids = (Ids){0};
    }
    self->done += is_taken;
  }
  self->working--;
  if (self->spare.bytes == NULL) self->spare = ids;
  else free(ids.bytes);
  release(self->model, idle, error);
  if (error == NULL && is_taken) return PyBool_FromLong(self->next_part < self->part_count);
  stop(self);
  if (error == gave_up && PyErr_Occurred() == NULL) return PyBool_FromLong(false); /* Another thread has stopped the batch. */
  return error == NULL ? NULL : raise(self->model, error);
}

/* stop(): makes the threads that work on the batch return soon */
static PyObject *batch_stop(Batch *self, PyObject *unused) {
  (void)unused;
  stop(self);
  return Py_NewRef(Py_None);
}

/* Returns the ids of a text as one list. `part` is its first slice. */
static PyObject *list_of_slices(Batch *self, Py_ssize_t part) {
  Ids all = {0};
  Py_ssize_t which = self->parts[part].first;
  PyObject *list = NULL;
  bool has_room = true;
  for (; part < self->part_count && self->parts[part].first == which && has_room; part++) {
    const Ids *ids = &self->parts[part].ids;
    has_room = ids_reserve(&all, ids->size);
    if (has_room && ids->size > 0) memcpy(all.bytes + all.size, ids->bytes, ids->size);
    if (has_room) all.size += ids->size;
  }
  if (has_room) list = list_of(self->model, all.bytes, all.size);
  else PyErr_NoMemory();
  free(all.bytes);
  return list;
}

/* check(): raises MemoryError unless all parts are encoded. A thread without memory may have been unable to report
 * that it failed. */
static PyObject *batch_check(Batch *self, PyObject *unused) {
  (void)unused;
  return self->done == self->part_count ? Py_NewRef(Py_None) : raise(self->model, no_memory);
}

/* lists() -> list of lists; to be called when all parts are done */
static PyObject *batch_lists(Batch *self, PyObject *unused) {
  (void)unused;
  for (Py_ssize_t part = 0; part < self->part_count; part++) {
    const Part *slice = &self->parts[part];
    if (slice->slice == NULL || (part > 0 && slice[-1].slice != NULL && slice[-1].first == slice->first)) continue;
    PyObject *list = list_of_slices(self, part);
    if (list == NULL) return NULL;
    PyList_SetItem(self->lists, slice->first, list);
  }
  return Py_NewRef(self->lists);
}

/* arrays() -> (ids of all texts end to end, offsets, bytes of an id); to be called when all parts are done. The
 * offsets have 64 bits: where the ids of each text begin, and where all end. */
static PyObject *batch_arrays(Batch *self, PyObject *unused) {
  (void)unused;
  PyObject *offsets = PyByteArray_FromStringAndSize(NULL, 8 * (self->count + 1));
  if (offsets == NULL || PyByteArray_Resize(self->array, (Py_ssize_t)self->array_size) < 0) {
    Py_XDECREF(offsets);
    return NULL;
  }
  char *offset = PyByteArray_AsString(offsets);
  int64_t end = 0;
  for (Py_ssize_t i = 0; i <= self->count; i++) {
    memcpy(offset + 8 * i, &end, 8);
    end += (int64_t)self->entries[i].id_count;
  }
  return Py_BuildValue("(ONi)", self->array, offsets, (int)self->model->image.id_bytes);
}

/* ---- Sessions ---- */

typedef struct {
  PyObject_HEAD
  Model *model;
  Session session;
  bool is_busy; /* a thread is editing it */
} SessionObject;

static void session_dealloc(SessionObject *self) {
  session_free(&self->session);
  Py_XDECREF((PyObject *)self->model);
  free_object(self);
}

/* session() -> Session */
static PyObject *model_session(Model *self, PyObject *unused) {
  (void)unused;
  SessionObject *session = new_object((PyTypeObject *)STATE(self)->session);
  if (session == NULL) return NULL;
  Py_INCREF((PyObject *)self);
  session->model = self;
  return (PyObject *)session;
}

/* fork() -> Session */
static PyObject *session_fork(SessionObject *self, PyObject *unused) {
  if (self->is_busy) return PyErr_Format(self->model->error, "another thread is using this session");
  SessionObject *copy = (SessionObject *)model_session(self->model, unused);
  if (copy == NULL || session_copy(&copy->session, &self->session)) return (PyObject *)copy;
  Py_DECREF((PyObject *)copy);
  return PyErr_NoMemory();
}

/* Returns the byte at which the character with this index begins, or the size of the text if there are fewer
 * characters. */
static size_t byte_of(const Session *session, size_t character) {
  size_t at = 0;
  for (; at < session->size; at++)
    if ((session->text[at] & 0xc0) != 0x80 && character-- == 0) break;
  return at;
}

/* edit(start, end, data, is_trusted) -> int: replaces characters [start, end), or appends if start is -1; returns the
 * number of leading ids that have not changed */
static PyObject *session_edit_text(SessionObject *self, PyObject *args) {
  Py_ssize_t start, end;
  PyObject *data;
  int is_trusted;
  Model *model = self->model;
  if (!PyArg_ParseTuple(args, "nnSp", &start, &end, &data, &is_trusted)) return NULL;
  if (self->is_busy) return PyErr_Format(model->error, "another thread is using this session");
  const char *error;
  Idle *idle = acquire(model, &error);
  if (idle == NULL) return raise(model, error);
  /* Another thread may have begun an edit while an instance was made. */
  if (self->is_busy) {
    release(model, idle, NULL);
    return PyErr_Format(model->error, "another thread is using this session");
  }
  Session *session = &self->session;
  size_t from = start < 0 ? session->size : byte_of(session, (size_t)start), to = start < 0 ? from : byte_of(session, (size_t)end), kept;
  const uint8_t *bytes = (const uint8_t *)PyBytes_AsString(data);
  size_t size = (size_t)PyBytes_Size(data);
  Poll poll = {0};
  if (size <= SHORT_TEXT && session->size <= SHORT_TEXT) {
    error = session_edit(session, &model->image, idle->instance, &poll, from, to, bytes, size, is_trusted, &kept);
  } else {
    self->is_busy = true;
    PyThreadState *thread = PyEval_SaveThread();
    poll = (Poll){.ask = handle_signals, .context = &thread};
    error = session_edit(session, &model->image, idle->instance, &poll, from, to, bytes, size, is_trusted, &kept);
    PyEval_RestoreThread(thread);
    self->is_busy = false;
  }
  release(model, idle, error);
  return error == NULL ? PyLong_FromSize_t(kept) : raise(model, error);
}

/* content() -> (text, ids, bytes of an id): text and ids as bytes */
static PyObject *session_content(SessionObject *self, PyObject *unused) {
  (void)unused;
  const Session *session = &self->session;
  if (self->is_busy) return PyErr_Format(self->model->error, "another thread is using this session");
  PyObject *text = PyBytes_FromStringAndSize((const char *)session->text, (Py_ssize_t)session->size);
  PyObject *ids = PyBytes_FromStringAndSize((const char *)session->ids.bytes, (Py_ssize_t)session->ids.size);
  return Py_BuildValue("(NNi)", text, ids, (int)self->model->image.id_bytes);
}

/* counts() -> (the number of ids, the number of leading ids that no appended text can change, the number of bytes that
 * edits have encoded) */
static PyObject *session_counts(SessionObject *self, PyObject *unused) {
  (void)unused;
  const Session *session = &self->session;
  if (self->is_busy) return PyErr_Format(self->model->error, "another thread is using this session");
  size_t count = session->ids.size / self->model->image.id_bytes;
  return Py_BuildValue("(nnn)", (Py_ssize_t)count, (Py_ssize_t)session_stable(session), (Py_ssize_t)session->encoded_size);
}

/* ids() -> list */
static PyObject *session_ids(SessionObject *self, PyObject *unused) {
  (void)unused;
  if (self->is_busy) return PyErr_Format(self->model->error, "another thread is using this session");
  return list_of(self->model, self->session.ids.bytes, self->session.ids.size);
}

/* ---- The module ---- */

/* Model(image, error, specials_as_text): the bytes of an image, the class of exceptions, and a default for calls */
static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  PyObject *source, *error_class;
  int specials_as_text;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "SOp", &source, &error_class, &specials_as_text)) return NULL;
  Model *self = new_object(type);
  if (self == NULL) return NULL;
  Py_INCREF(source);
  Py_INCREF(error_class);
  self->source = source;
  self->error = error_class;
  self->specials_as_text = specials_as_text;
  const char *error = image_open(&self->image, (const uint8_t *)PyBytes_AsString(source), (size_t)PyBytes_Size(source));
  if (error == NULL) {
    self->numbers = calloc((size_t)self->image.id_limit + 1, sizeof *self->numbers);
    if (self->numbers == NULL) error = no_memory;
  }
  Idle *idle = error == NULL ? acquire(self, &error) : NULL;
  if (idle == NULL) {
    raise(self, error);
    Py_DECREF((PyObject *)self);
    return NULL;
  }
  release(self, idle, NULL);
  return (PyObject *)self;
}

static void model_dealloc(Model *self) {
  while (self->idle != NULL) {
    Idle *next = self->idle->next;
    drop(self->idle);
    self->idle = next;
  }
  if (self->numbers != NULL)
    for (uint32_t id = 0; id < self->image.id_limit; id++) Py_XDECREF(self->numbers[id]);
  free(self->numbers);
  free(self->spare.bytes);
  Py_XDECREF(self->source);
  Py_XDECREF(self->error);
  free_object(self);
}

static PyMethodDef model_methods[] = {
    {"encode", (PyCFunction)(void (*)(void))model_encode, METH_FASTCALL, NULL},
    {"count", (PyCFunction)model_count, METH_VARARGS, NULL},
    {"encode_with_offsets", (PyCFunction)model_encode_with_offsets, METH_VARARGS, NULL},
    {"encode_segments", (PyCFunction)model_encode_segments, METH_VARARGS, NULL},
    {"recoded_spans", (PyCFunction)model_recoded_spans, METH_VARARGS, NULL},
    {"session", (PyCFunction)model_session, METH_NOARGS, NULL},
    {"cut", (PyCFunction)model_cut, METH_VARARGS, NULL},
    {"batch", (PyCFunction)model_batch, METH_VARARGS, NULL},
    {"file", (PyCFunction)model_file, METH_VARARGS, NULL},
    {"decode", (PyCFunction)model_decode, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot model_slots[] = {
    {Py_tp_new, model_new}, {Py_tp_dealloc, model_dealloc}, {Py_tp_methods, model_methods}, {0, NULL}};
static PyType_Spec model_spec = {"bpe_trainer._native.Model", sizeof(Model), 0, Py_TPFLAGS_DEFAULT, model_slots};

static PyMethodDef batch_methods[] = {
    {"add", (PyCFunction)batch_add, METH_VARARGS, NULL},
    {"work", (PyCFunction)batch_work, METH_NOARGS, NULL},
    {"stop", (PyCFunction)batch_stop, METH_NOARGS, NULL},
    {"check", (PyCFunction)batch_check, METH_NOARGS, NULL},
    {"lists", (PyCFunction)batch_lists, METH_NOARGS, NULL},
    {"arrays", (PyCFunction)batch_arrays, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot batch_slots[] = {{Py_tp_dealloc, batch_dealloc}, {Py_tp_methods, batch_methods}, {0, NULL}};
static PyType_Spec batch_spec = {
    "bpe_trainer._native.Batch", sizeof(Batch), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, batch_slots};

static PyMethodDef session_methods[] = {
    {"edit", (PyCFunction)session_edit_text, METH_VARARGS, NULL},
    {"content", (PyCFunction)session_content, METH_NOARGS, NULL},
    {"counts", (PyCFunction)session_counts, METH_NOARGS, NULL},
    {"ids", (PyCFunction)session_ids, METH_NOARGS, NULL},
    {"fork", (PyCFunction)session_fork, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot session_slots[] = {{Py_tp_dealloc, session_dealloc}, {Py_tp_methods, session_methods}, {0, NULL}};
static PyType_Spec session_spec = {
    "bpe_trainer._native.Session", sizeof(SessionObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, session_slots};

static int fill_module(PyObject *module) {
  const char *obstacle = processor_obstacle();
  if (obstacle != NULL) {
    PyErr_SetString(PyExc_ImportError, obstacle);
    return -1;
  }
  State *state = PyModule_GetState(module);
  state->model = PyType_FromModuleAndSpec(module, &model_spec, NULL);
  state->batch = PyType_FromModuleAndSpec(module, &batch_spec, NULL);
  state->session = PyType_FromModuleAndSpec(module, &session_spec, NULL);
  if (state->model == NULL || state->batch == NULL || state->session == NULL) return -1;
  Py_INCREF(state->model);
  if (PyModule_AddObject(module, "Model", state->model) == 0) return 0;
  Py_DECREF(state->model);
  return -1;
}

static int visit_module(PyObject *module, visitproc visit, void *arg) {
  State *state = PyModule_GetState(module);
  if (state == NULL) return 0;
  Py_VISIT(state->model);
  Py_VISIT(state->batch);
  Py_VISIT(state->session);
  return 0;
}

static int clear_module(PyObject *module) {
  State *state = PyModule_GetState(module);
  if (state == NULL) return 0;
  Py_CLEAR(state->model);
  Py_CLEAR(state->batch);
  Py_CLEAR(state->session);
  return 0;
}

static void free_module(void *module) { clear_module(module); }

/* From Python 3.12 on, PyInit__native sets the second slot, which says that each interpreter may have its own GIL. */
static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, fill_module}, {0, NULL}, {0, NULL}};
static PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT, "bpe_trainer._native", NULL, sizeof(State), NULL, module_slots, visit_module, clear_module, free_module};

PyMODINIT_FUNC PyInit__native(void) {
  enum { MULTIPLE_INTERPRETERS_SLOT = 3, PYTHON_3_12 = 0x030c0000, PYTHON_3_15 = 0x030f0000 };
  PyObject *hexversion = PySys_GetObject("hexversion");
  long version = hexversion == NULL ? PYTHON_3_15 : PyLong_AsLong(hexversion);
  knows_lists = version < PYTHON_3_15;
  if (hexversion != NULL && version >= PYTHON_3_12)
    module_slots[1] = (PyModuleDef_Slot){MULTIPLE_INTERPRETERS_SLOT, (void *)2};
  return PyModuleDef_Init(&module_def);
}
