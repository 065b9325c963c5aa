import type { Locator, Page } from 'playwright-core';

/** More focusable elements than any page has. */
const placesMax = 120;

/** The members of an element that the code in the page reads. */
type Placed = { isConnected: boolean; matches(selector: string): boolean };

/** This function runs in the page. */
function stateOf(node: Placed): 'replaced' | 'focused' | 'elsewhere' {
  if (!node.isConnected) return 'replaced';
  return node.matches(':focus') ? 'focused' : 'elsewhere';
}

/** A user without a mouse, who reaches only elements in the Tab order. */
export class Keyboard {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.insertText(text);
  }

  /** Presses Tab until the element has the focus. */
  async to(element: Locator): Promise<void> {
    await element.waitFor();
    // A locator searches the whole page, so it is resolved again only after the page replaced the element.
    let found = await element.elementHandle();
    for (let place = 0; place <= placesMax; place += 1) {
      let state = await found?.evaluate(stateOf);
      if (state === 'replaced') {
        found = await element.elementHandle();
        state = await found?.evaluate(stateOf);
      }
      if (state === 'focused') return;
      await this.press('Tab');
    }
    throw new Error(`Tab does not lead to ${element.toString()}.`);
  }

  /** Moves to the element and presses Enter on it. */
  async enter(element: Locator): Promise<void> {
    await this.to(element);
    await this.press('Enter');
  }

  /** Presses the first button with this name on the page, or in a dialog. */
  async use(name: string, within: Pick<Page, 'getByRole'> = this.page): Promise<void> {
    await this.enter(within.getByRole('button', { name, exact: true }).first());
  }

  get dialog(): Locator {
    return this.page.getByRole('dialog');
  }

  /** Replaces the text of the field with this label. */
  async fill(label: string, text: string): Promise<void> {
    await this.to(this.page.getByLabel(label));
    await this.press('Control+a');
    await this.type(text);
  }

  async sees(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }
}
