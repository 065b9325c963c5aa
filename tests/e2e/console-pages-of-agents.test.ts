import { describe } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { useConsole } from './_console.ts';
import { checkPage, openAs } from './_page-check.ts';
import { pageGroups } from './_pages.ts';
import { addressBook } from './_system.ts';

const address = addressBook();

const timeoutMs = 180_000;
const desk = useConsole();

describe('a page about what agents do', () => {
  for (const page of pageGroups.ofAgents)
    verifies(
      'ui.pages',
      `${page.title}: by keyboard alone from what it offers when empty to what people come for, clean in every look`,
      async () => checkPage(await openAs(desk, address(page.path), page.path), page),
      timeoutMs,
    );
});
