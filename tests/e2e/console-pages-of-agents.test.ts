import { describe } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { useConsole } from './_console.ts';
import { checkPage, openAs } from './_page-check.ts';
import { pageGroups } from './_pages.ts';
import { addressBook } from './_system.ts';

const address = addressBook();

const desk = useConsole();

describe('a page about the work of agents', () => {
  for (const page of pageGroups.ofAgents)
    verifies(
      'ui.pages',
      `${page.title}: its empty state and its main action work by keyboard alone, without accessibility faults at any width and in both themes`,
      async () => checkPage(await openAs(desk, address(page.path), page.path), page),
    );
});
