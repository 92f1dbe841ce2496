// Tooltips: on hover, on touch, on keyboard focus, and with the arrow keys.

// The playground's workers run the same script, but have no document.
if (typeof document !== "undefined") {
  const marked = "[data-tip], i[data-id]";
  /** Pictures. A mark is an element with a tooltip. In a picture, the mark nearest to the pointer shows its tooltip. */
  const pictures = ".chart, .dots";
  /** The largest distance of that mark from the pointer, in pixels; a vertical distance counts for a third. */
  const reach = 60;

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  let current = null;

  const textOf = ({ dataset }) => dataset.tip ?? `id ${dataset.id}, ${dataset.n} bytes`;

  const show = (mark) => {
    if (mark === current) return;
    current?.classList.remove("on");
    current = mark;
    tip.remove();
    if (mark === null) return;
    mark.classList.add("on");
    tip.textContent = textOf(mark);
    document.body.append(tip);
    place();
  };

  /** Places the tooltip next to its mark; hides it if the mark is scrolled out of view. */
  const place = () => {
    const { left, right, top, bottom } = current.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) return show(null);
    const { width, height } = tip.getBoundingClientRect();
    const most = document.documentElement.clientWidth - width - 4;
    tip.style.left = `${Math.max(4, Math.min(most, (left + right - width) / 2))}px`;
    tip.style.top = `${top - height - 6 < 0 ? bottom + 6 : top - height - 6}px`;
  };

  const nearest = (picture, { clientX, clientY }) => {
    let found = null;
    let least = reach;
    for (const mark of picture.querySelectorAll(marked)) {
      const { left, right, top, bottom } = mark.getBoundingClientRect();
      const aside = Math.max(left - clientX, 0, clientX - right);
      const above = Math.max(top - clientY, 0, clientY - bottom);
      // Vertical distance is divided by three, so that a dot of a curve responds over most of its column.
      const distance = Math.hypot(aside, above / 3);
      if (distance < least) [found, least] = [mark, distance];
    }
    return found;
  };

  const point = (event) => {
    const { target } = event;
    const picture = target.closest(pictures);
    show(target.closest(marked) ?? (picture && nearest(picture, event)));
    isByKey = false;
  };
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);
  // Lifting a finger also fires this event. The tooltip then stays, so that it can be read.
  document.documentElement.addEventListener("pointerleave", ({ pointerType }) => {
    if (pointerType === "mouse") show(null);
  });
  document.addEventListener("scroll", () => current && place(), true);

  /** Whether a key opened the tooltip. */
  let isByKey = false;
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show(null);
    const step = steps[event.key];
    const place = document.activeElement;
    if (step === undefined || !place?.matches(".chart, .dots, .text")) return;
    const marks = [...place.querySelectorAll(marked)];
    const at = marks.indexOf(current);
    const next = marks[at < 0 ? (step > 0 ? 0 : marks.length - 1) : at + step];
    if (next === undefined) return;
    event.preventDefault();
    show(next);
    isByKey = true;
  });
  document.addEventListener("focusin", ({ target }) => {
    const mark = target.closest("[data-tip]");
    if (mark === null || !target.matches(":focus-visible")) return;
    show(mark);
    isByKey = true;
  });
  document.addEventListener("focusout", () => {
    if (isByKey) show(null);
  });
}
