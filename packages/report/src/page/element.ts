import { forTerminal } from '@countersign/verifier';

type Child = Node | string;
type Attributes = Readonly<Record<string, string>>;

/**
 * Creates an element with attributes and children. Strings become text, never markup. All their characters are visible,
 * since a name in a pack must not hide or reorder text.
 */
export function element(name: string, attributes: Attributes = {}, ...children: readonly Child[]): HTMLElement {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children.map((child) => (typeof child === 'string' ? visible(child) : child)));
  return made;
}

function visible(text: string): string {
  return text.split('\n').map(forTerminal).join('\n');
}

export function button(label: string, onClick: () => void): HTMLElement {
  const made = element('button', { type: 'button' }, label);
  made.addEventListener('click', onClick);
  return made;
}

/** A table with one row for each item. On a narrow screen it scrolls sideways, also with the keyboard. */
export function table(label: string, heads: readonly string[], rows: readonly (readonly Child[])[]): HTMLElement {
  const head = element('tr', {}, ...heads.map((name) => element('th', { scope: 'col' }, name)));
  const body = rows.map((cells) => element('tr', {}, ...cells.map((cell) => element('td', {}, cell))));
  const made = element('table', {}, element('thead', {}, head), element('tbody', {}, ...body));
  return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, made);
}
