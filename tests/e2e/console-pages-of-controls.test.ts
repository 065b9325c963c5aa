import { beforeAll, describe } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { useConsole } from './_console.ts';
import { checkPage, follow, openAs, type AtConsole } from './_page-check.ts';
import { pageGroups } from './_pages.ts';
import { addressBook } from './_system.ts';

const address = addressBook();

const timeoutMs = 180_000;
const desk = useConsole();
let ada: AtConsole;

beforeAll(async () => {
  ada = await openAs(desk, address('ada'), 'you');
}, timeoutMs);

describe('a page that holds agents back', () => {
  for (const page of pageGroups.ofControls)
    verifies(
      'ui.pages',
      `${page.title}: by keyboard alone from what it offers when empty to what people come for, clean in every look`,
      async () => {
        await follow(ada, page.path);
        await checkPage(ada, page);
      },
      timeoutMs,
    );
});
