import { useSyncExternalStore } from 'react';

type Question = { answer: (isProven: boolean) => void };

/** The state of the question for a proof of presence; there is at most one at a time, for all acts that wait for it. */
class Presence {
  #question: Question | null = null;
  #proven: Promise<boolean> | null = null;
  readonly #listeners = new Set<() => void>();

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly asked = (): Question | null => this.#question;

  /** Answers whether they did, when they did or gave it up. */
  ask(): Promise<boolean> {
    this.#proven ??= new Promise<boolean>((resolve) => this.#change({ answer: resolve })).finally(() => {
      this.#proven = null;
      this.#change(null);
    });
    return this.#proven;
  }

  #change(question: Question | null): void {
    this.#question = question;
    for (const listener of this.#listeners) listener();
  }
}

const presence = new Presence();

export const askPresence = (): Promise<boolean> => presence.ask();

export function useAskedPresence(): Question | null {
  return useSyncExternalStore(presence.listen, presence.asked);
}

/** Has to be first to hear of it: Escape gives up the question alone, and not the dialog behind it whose act asked. */
export function followEscape(target: Window): void {
  target.addEventListener(
    'keydown',
    (event) => {
      const question = presence.asked();
      if (event.key !== 'Escape' || event.isComposing || question === null) return;
      event.stopImmediatePropagation();
      question.answer(false);
    },
    { capture: true },
  );
}
