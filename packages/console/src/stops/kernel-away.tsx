/** While the kernel does not answer, the stops in force are unknown, so none is shown. */
export function KernelAway() {
  return (
    <section className="note note-problem" role="alert">
      <h2>The kernel does not answer</h2>
      <p>The stops in force are unknown, so nothing is shown. No call goes through without the kernel.</p>
      <p>You can still stop something. The stop is kept and repeated until the kernel confirms it.</p>
    </section>
  );
}
