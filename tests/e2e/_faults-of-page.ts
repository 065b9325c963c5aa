import type { Page } from 'playwright-core';
import { axeFindings } from './_console.ts';

/** Without `rules`, axe checks every rule. */
type Look = { width: number; colorScheme: 'light' | 'dark'; rules?: readonly string[] };

const height = 800;
const wide: Look = { width: 1280, colorScheme: 'light' };
const narrow: Look = { width: 390, colorScheme: 'dark' };
/**
 * Rules that depend on layout and colours. A second width needs only these rules. Except for the frame of all pages, a
 * page has the same elements and names at both widths.
 */
const rulesOfLayout = ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block'];
/**
 * Two combinations, with each width and each theme once. They suffice for a second state of a page that was examined
 * with `everyLook`.
 */
export const twoLooks: readonly Look[] = [wide, { ...narrow, rules: rulesOfLayout }];
/**
 * Each width in each theme. A theme changes only colours, so the last two combinations check only the rule for colours.
 */
export const everyLook: readonly Look[] = [
  ...[wide, narrow],
  { width: 390, colorScheme: 'light', rules: ['color-contrast'] },
  { width: 1280, colorScheme: 'dark', rules: ['color-contrast'] },
];

/** The elements beyond the right edge of a page that scrolls sideways. */
const wider = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]
  .filter((element) => element.getBoundingClientRect().right > innerWidth)
  .map((element) => 'too wide: ' + element.cloneNode().outerHTML)`;

/**
 * The faults of the page in its current state, at these widths and in these themes: faults that axe finds, and elements
 * wider than the screen.
 */
export async function faultsOf(page: Page, looks: readonly Look[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { width, colorScheme, rules } of looks) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    const found = await axeFindings(page, rules);
    found.push(...(await page.evaluate<string[]>(wider)));
    faults.push(...found.map((fault) => `${width} px, ${colorScheme}: ${fault}`));
  }
  await page.setViewportSize({ width: 1280, height });
  await page.emulateMedia({ colorScheme: 'light' });
  return faults;
}

const movingMaxMs = 1;

/** The elements that still move after the visitor requested reduced motion. */
export async function movedOf(page: Page): Promise<string[]> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const moving = await page.evaluate<string[]>(`[...document.querySelectorAll('*')].flatMap((element) => {
    const { animationDuration, transitionDuration } = getComputedStyle(element);
    const longest = Math.max(...[animationDuration, transitionDuration].join().split(',').map(parseFloat));
    return longest * 1000 > ${movingMaxMs} ? [element.tagName + '.' + element.className] : [];
  })`);
  await page.emulateMedia({ reducedMotion: null });
  return moving;
}

/** The printed elements that are useful only on a screen: controls, and links to other pages. */
export async function printedOf(page: Page): Promise<string[]> {
  await page.emulateMedia({ media: 'print' });
  const printed = await page.evaluate<string[]>(`[...document.querySelectorAll('nav, .mantine-Button-root')]
    .filter((element) => element.checkVisibility())
    .map((element) => element.tagName + ' ' + element.textContent)`);
  if (!(await page.getByRole('heading', { level: 1 }).first().isVisible())) printed.push('no heading');
  await page.emulateMedia({ media: null });
  return printed;
}
