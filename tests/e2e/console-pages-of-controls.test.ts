import { beforeAll, describe } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { useConsole } from './_console.ts';
import { checkPage, follow, openAs, type AtConsole } from './_page-check.ts';
import { pageGroups } from './_pages.ts';
import { addressBook } from './_system.ts';

const address = addressBook();

const desk = useConsole();
let ada: AtConsole;

beforeAll(async () => {
  ada = await openAs(desk, address('ada'), 'you');
});

describe('a page that controls agents', () => {
  for (const page of pageGroups.ofControls)
    verifies(
      'ui.pages',
      `${page.title}: its empty state and its main action work by keyboard alone, without accessibility faults at any width and in both themes`,
      async () => {
        await follow(ada, page.path);
        await checkPage(ada, page);
      },
    );
});
