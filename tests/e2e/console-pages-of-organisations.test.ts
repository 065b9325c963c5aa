import { beforeAll, describe, expect, it } from '@jest/globals';
import { untilAnswered } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { useConsole } from './_console.ts';
import { everyLook, faultsOf } from './_faults-of-page.ts';
import { checkPage, follow, openAs, type AtConsole } from './_page-check.ts';
import { pageGroups } from './_pages.ts';
import { joined, personAt } from './_signed-in.ts';
import { addressBook } from './_system.ts';

const address = addressBook();

const timeoutMs = 180_000;
const desk = useConsole();
let ada: AtConsole;

beforeAll(async () => {
  ada = await openAs(desk, address('ada'), 'you');
  const { tab } = ada.person;
  const founded = await tab.send('/api/bootstrap', { method: 'POST', body: { name: 'Acme' } });
  // The organisation arrives at the commercial gateway by an event.
  const account = `/api/billing/tenants/${String(founded.body['org_id'])}`;
  await untilAnswered(async () => (await tab.send(account)).status === 200);
}, timeoutMs);

describe('a page about the organisation', () => {
  for (const page of pageGroups.ofOrganisations)
    verifies(
      'ui.pages',
      `${page.title}: by keyboard alone from what it offers when empty to what people come for, clean in every look`,
      async () => {
        await follow(ada, page.path);
        await checkPage(ada, page);
      },
      timeoutMs,
    );

  it(
    'says to a member why it shows nothing',
    async () => {
      await joined(ada.person, await personAt(desk.system.gatewayUrl, address('ben')), 'member');
      const { page, faults } = await desk.visitAs(
        address('ben'),
        `/console/billing?workspace=${ada.person.workspaceId}`,
      );
      await page.getByRole('heading', { name: 'Only the administrator sees this page' }).waitFor();
      expect(await faultsOf(page, everyLook)).toEqual([]);
      expect(faults).toEqual([]);
    },
    timeoutMs,
  );
});
