import { useSyncExternalStore } from 'react';

type Question = { answer: (isProven: boolean) => void };

/** Requests proof of presence from the person. All acts that need a proof wait for the same open request. */
class Presence {
  #question: Question | null = null;
  #proven: Promise<boolean> | null = null;
  readonly #listeners = new Set<() => void>();

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly currentQuestion = (): Question | null => this.#question;

  /** Resolves to `true` when the person proved presence, and to `false` when the person cancelled. */
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
  return useSyncExternalStore(presence.listen, presence.currentQuestion);
}

/**
 * Must be added before all other listeners, so that Escape closes only the request for a proof. The dialog behind the
 * request stays open.
 */
export function followEscape(target: Window): void {
  target.addEventListener(
    'keydown',
    (event) => {
      const question = presence.currentQuestion();
      if (event.key !== 'Escape' || event.isComposing || question === null) return;
      event.stopImmediatePropagation();
      question.answer(false);
    },
    { capture: true },
  );
}
