/** A call in progress. The model has been called, or a tool has had its effect, and the answer is still pending. */
export type Moment = { at: 'model' | 'tool'; release(): void };

type Wanted = { remaining: number; come: (moment: Moment) => void };

/**
 * Holds one upstream call, so that a kill happens in the middle of it. Before that, all calls wait until the call to
 * hold is chosen. Calls therefore remain for every planned strike, even on a slow machine.
 */
export class Moments {
  #wanted: Wanted | null = null;
  #passed = 0;
  #isCalm = false;
  readonly #waiting: (() => void)[] = [];

  get passed(): number {
    return this.#passed;
  }

  /** Every call passes here before it is answered. The chosen call waits for its release. */
  async pass(at: Moment['at']): Promise<void> {
    this.#passed += 1;
    while (this.#wanted === null && !this.#isCalm) await new Promise<void>((go) => this.#waiting.push(go));
    const wanted = this.#wanted;
    if (wanted === null || --wanted.remaining > 0) return;
    this.#wanted = null;
    await new Promise<void>((release) => wanted.come({ at, release }));
  }

  /** The nth call from now on. It is held until its release. */
  next(nth: number): Promise<Moment> {
    return new Promise((come) => {
      this.#wanted = { remaining: nth, come };
      this.#letGo();
    });
  }

  /** Stops holding calls and releases the waiting ones. */
  end(): void {
    this.#isCalm = true;
    this.#wanted = null;
    this.#letGo();
  }

  #letGo(): void {
    for (const go of this.#waiting.splice(0)) go();
  }
}
