/** Where something is under way: the model has been asked, or a tool has had its effect, and neither has answered. */
export type Moment = { at: 'model' | 'tool'; release(): void };

type Wanted = { left: number; come: (moment: Moment) => void };

/**
 * Holds one call of an upstream, so that what is killed then is killed in the middle of it. Until it is known which call that is next, all of
 * them wait: however slow the machine kills, calls are left for whatever is to be struck.
 */
export class Moments {
  #wanted: Wanted | null = null;
  #passed = 0;
  #isCalm = false;
  readonly #waiting: (() => void)[] = [];

  get passed(): number {
    return this.#passed;
  }

  /** Every call comes by here before it is answered. */
  async pass(at: Moment['at']): Promise<void> {
    this.#passed += 1;
    while (this.#wanted === null && !this.#isCalm) await new Promise<void>((go) => this.#waiting.push(go));
    const wanted = this.#wanted;
    if (wanted === null || --wanted.left > 0) return;
    this.#wanted = null;
    await new Promise<void>((release) => wanted.come({ at, release }));
  }

  /** The so-manieth call from now, held until it is released. */
  next(nth: number): Promise<Moment> {
    return new Promise((come) => {
      this.#wanted = { left: nth, come };
      this.#letGo();
    });
  }

  /** No call is wanted any more, and none waits. */
  end(): void {
    this.#isCalm = true;
    this.#wanted = null;
    this.#letGo();
  }

  #letGo(): void {
    for (const go of this.#waiting.splice(0)) go();
  }
}
