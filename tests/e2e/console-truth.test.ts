import { describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import type { Page } from 'playwright-core';
import { useConsole } from './_console.ts';
import { startReplicas } from './_replicas.ts';
import { signIn } from './_system.ts';

const policy = `
format: countersign/policy.v1
name: truth
version: '1'
rules:
  - { id: letters, effect: escalate, match: { tool: [mail.send] } }
  - { id: all, effect: allow }
tools:
  mail.send: { effect_level: E3 }
`;
const desk = useConsole(() => startReplicas(policy));

/** The value of a fact on the overview. */
async function factOf(page: Page, name: string): Promise<string | null> {
  const list = page.getByRole('region', { name: 'Enforcement' });
  return list.locator(`dt:text-is("${name}") + dd`).textContent();
}
const inForce = ['Calls', 'Policy', 'Stops', 'Calls in flight'];
const away = 'what is in force is unknown';

describe('while the kernel is unreachable', () => {
  verifies(
    'ui.truth',
    'no fence, policy or approval is shown as in force, on a page opened before or during the outage',
    async () => {
      const { system: site } = desk;
      const email = 'ada@example.org';
      const { workspaceId } = await signIn({ gatewayUrl: site.gateway.url }, email);
      const { page, context } = await desk.visitAs(email, '/console/overview');
      await page.getByText('Each call decided').waitFor();
      const call = { action: 'tool.call', tool: 'mail.send', session_id: 'truth' } as never; // unbranded names
      await site.agents(workspaceId)[0].evaluate({ body: call });
      const scope = `tenant:${workspaceId}`;
      const fence = { kind: 'freeze', epoch: 1, reason: 'a leak', set_by: 'ada' } as never; // unbranded names
      await site.system.putFence({ params: { scope }, body: fence });
      await page.getByText('All denied').waitFor();
      expect(await factOf(page, 'Stops')).toBe('1');
      const inbox = await context.newPage();
      await inbox.goto('/console/inbox');
      await inbox.getByRole('article', { name: 'mail.send, pending' }).waitFor();
      const policyPage = await context.newPage();
      await policyPage.goto('/console/policy');
      await policyPage.getByRole('heading', { name: 'In force' }).waitFor();
      const stops = await context.newPage();
      await stops.goto('/console/incidents');
      await stops.getByRole('list', { name: 'Stops in force' }).getByText('a leak').waitFor();
      site.toKernel.cut();
      await page.getByText(away).waitFor();
      for (const name of inForce) expect([name, await factOf(page, name)]).toEqual([name, 'No answer']);
      expect(await page.getByText('1 call waits').count()).toBe(0);
      await inbox.getByText(away).waitFor();
      await inbox.getByText('may be out of date').first().waitFor();
      await inbox.reload();
      await inbox.getByText(away).waitFor();
      expect(await inbox.getByRole('article').count()).toBe(0);
      await policyPage.getByText('may be out of date').first().waitFor();
      await policyPage.reload();
      await policyPage.getByText(away).waitFor();
      await stops.getByRole('list', { name: 'Stops in force' }).waitFor({ state: 'detached' });
      expect(await policyPage.getByRole('heading', { name: 'In force' }).count()).toBe(0);
      expect(await stops.getByRole('heading', { name: 'Stopped now' }).count()).toBe(0);
      site.toKernel.restore();
      await page.getByText(away).waitFor({ state: 'detached' });
      await page.getByText('All denied').waitFor();
    },
  );
});
