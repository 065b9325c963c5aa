import { useEffect, useSyncExternalStore } from 'react';

/**
 * `keys`: one key by its `event.key`, or two keys in sequence, separated by a space (`g i`). `isOfDialog`: the keys
 * work only while one dialog is open.
 */
type Shortcut = { keys: string; says: string; isOfDialog?: true; run(): void };

/** The longest time between the two keys of a sequence. */
const sequenceMs = 1_200;
const preference = 'countersign-single-keys';

/** All shortcuts on the screen, in the order in which they were added. For equal keys, the last one wins. */
class Shortcuts {
  #groups: readonly (readonly Shortcut[])[] = [];
  #first: { key: string; atMs: number } | null = null;
  readonly #listeners = new Set<() => void>();

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly shown = (): readonly (readonly Shortcut[])[] => this.#groups;

  add(group: readonly Shortcut[]): () => void {
    this.#change([...this.#groups, group]);
    return () => this.#change(this.#groups.filter((each) => each !== group));
  }

  press(key: string, { atMs, inDialog }: { atMs: number; inDialog: boolean }): boolean {
    const first = this.#first !== null && atMs - this.#first.atMs < sequenceMs ? this.#first.key : null;
    const all = this.#groups.flat().filter(({ isOfDialog = false }) => isOfDialog === inDialog);
    const found = all.findLast(({ keys }) => keys === (first === null ? key : `${first} ${key}`));
    const begins = found === undefined && all.some(({ keys }) => keys.startsWith(`${key} `));
    this.#first = begins ? { key, atMs } : null;
    found?.run();
    return found !== undefined;
  }

  #change(groups: readonly (readonly Shortcut[])[]): void {
    this.#groups = groups;
    for (const listener of this.#listeners) listener();
  }
}

const shortcuts = new Shortcuts();

/** Registers keys while a page or a part of it is on the screen. Each render replaces the array by the current one. */
export function useShortcuts(group: readonly Shortcut[]): void {
  useEffect(() => shortcuts.add(group));
}

export function useShownShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(shortcuts.listen, shortcuts.shown).flat();
}

/** WCAG 2.1.4: keys without a modifier can be switched off. The setting stays in this browser. */
export function areSingleKeysOn(): boolean {
  return localStorage.getItem(preference) !== 'off';
}

export function switchSingleKeys(on: boolean): void {
  localStorage.setItem(preference, on ? 'on' : 'off');
}

/** In a text field, keys are text. Under one open dialog, only keys of the dialog work. Under two, no key works. */
export function followKeys(target: Document): () => void {
  const pressed = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey, repeat } = event;
    if (ctrlKey || metaKey || altKey || repeat || event.defaultPrevented) return;
    // For a field in a shadow tree, such as the editor, `event.target` is only the host.
    const [innermost = null] = event.composedPath();
    const dialogs = target.querySelectorAll('[role="dialog"]').length;
    if (isWriting(innermost) || dialogs > 1 || !areSingleKeysOn()) return;
    if (shortcuts.press(key, { atMs: event.timeStamp, inDialog: dialogs === 1 })) event.preventDefault();
  };
  target.addEventListener('keydown', pressed);
  return () => target.removeEventListener('keydown', pressed);
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
}
