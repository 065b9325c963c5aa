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

const desk = useConsole();
let ada: AtConsole;

beforeAll(async () => {
  ada = await openAs(desk, address('ada'), 'you');
  const { tab } = ada.person;
  const founded = await tab.send('/api/bootstrap', { method: 'POST', body: { name: 'Acme' } });
  // The commercial gateway learns of the organisation from an event.
  const account = `/api/billing/tenants/${String(founded.body['org_id'])}`;
  await untilAnswered(async () => (await tab.send(account)).status === 200);
});

describe('a page about the organisation', () => {
  for (const page of pageGroups.ofOrganisations)
    verifies(
      'ui.pages',
      `${page.title}: its empty state and its main action work by keyboard alone, without accessibility faults at any width and in both themes`,
      async () => {
        await follow(ada, page.path);
        await checkPage(ada, page);
      },
    );

  it('explains to a member why it is empty', async () => {
    await joined(ada.person, await personAt(desk.system.gatewayUrl, address('ben')), 'member');
    const { page, faults } = await desk.visitAs(address('ben'), `/console/billing?workspace=${ada.person.workspaceId}`);
    await page.getByRole('heading', { name: 'Only the administrator sees this page' }).waitFor();
    expect(await faultsOf(page, everyLook)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
