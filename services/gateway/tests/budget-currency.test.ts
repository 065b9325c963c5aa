import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import { signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let ada: Person;
beforeAll(async () => {
  database = await testDatabase();
  gateway = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0', GOV_CURRENCY: 'EUR' }));
  ada = await signInAs(gateway.url, 'ada@example.org');
});
afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

const read = async () => (await ada.client.getWorkspaceSettings({ params: { id: ada.workspace.id } })).body;

describe('the budget of a workspace where the prices of models have a currency', () => {
  it('uses that currency by default', async () => {
    expect((await read()).budgetConfig).toEqual({ monthlyLlmBudget: 100, currency: 'EUR' });
  });

  it('is refused in another currency, with both currencies in the message', async () => {
    const params = { id: ada.workspace.id };
    const body = { budgetConfig: { monthlyLlmBudget: 7, currency: 'USD' } };
    await expect(ada.client.putWorkspaceSettings({ params, body })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      param: 'budgetConfig.currency',
      message: '`currency` is USD, and the prices of models are in EUR. Set the budget in EUR',
    });
    expect((await read()).budgetConfig).toEqual({ monthlyLlmBudget: 100, currency: 'EUR' });
  });

  it('does not affect other sections that are sent without a budget', async () => {
    const params = { id: ada.workspace.id };
    const body = { policyConfig: { blockedTools: ['files.write'] } };
    await expect(ada.client.putWorkspaceSettings({ params, body: body as never })).resolves.toMatchObject({
      body: { policyConfig: { blockedTools: ['files.write'] }, budgetConfig: { currency: 'EUR' } },
    });
  });
});
