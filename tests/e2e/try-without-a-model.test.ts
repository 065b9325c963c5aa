import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import { directives } from '@countersign/testkit/scripted-model';
import { readText } from '../architecture/repository.ts';
import { Reading } from './_reading.ts';
import { Walk } from './_walk.ts';

const page = 'docs/how-to/try-without-a-model.md';
let reading: Reading;

beforeAll(async () => {
  reading = await Reading.begin(new Walk(page, readText(page)), 'pick()');
});
afterAll(() => reading.end());

const model = 'model_call ALLOW';
const read = 'tool_call files.read_text_file ALLOW';

describeStory('the how-to without a model, executed block by block', () => {
  it('the page lists exactly the directives that it uses and that exist', () => {
    const table = /^## Directives$(.*?)^Several/ms.exec(readText(page))?.[1] ?? '';
    const named = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, directive]) => directive);
    expect(named).toEqual(Object.keys(directives));
    const blocks = [...readText(page).matchAll(/^work <<'END'\n(.*?)^END$/gms)].map(([, lines = '']) => lines);
    const written = blocks
      .join('')
      .split('\n')
      .filter((line) => line !== '');
    expect(written.length).toBeGreaterThan(8);
    const isDirective = (line: string) => Object.values(directives).some((form) => line.search(form) === 0);
    expect(written.filter((line) => !isDirective(line))).toEqual([]);
  });

  it('a read is allowed, and the model gets its result', async () => {
    await reading.typed('Water the plants');
    const [, ...report] = await reading.repeated('run status', 'completed');
    expect(report.slice(0, 3)).toEqual([model, read, model]);
    expect(report.join('\n')).toContain('Water the plants.');
  });

  it('a read of credentials is denied, and the run ends', async () => {
    await reading.typed('.env');
    const [, ...output] = await reading.repeated('run status', 'denied');
    expect(output.slice(0, 2)).toEqual([model, 'tool_call files.read_text_file DENY']);
    expect(output).toHaveLength(3);
  });

  it('an overwrite waits, and is made once a person approves', async () => {
    await reading.typed('letter.md');
    await reading.repeated('run status', 'awaiting_approval');
    expect(await reading.typed('"approved"')).toEqual(['approved']);
    expect(await reading.repeated('letter.md', 'completed')).toEqual(['completed', 'Dear customer']);
  });

  it('another write waits, and is never made after a person rejects it', async () => {
    await reading.typed('invoice.md');
    await reading.repeated('run status', 'awaiting_approval');
    expect(await reading.typed('"rejected"')).toEqual(['rejected']);
    const [, why, ...files] = await reading.repeated('run error.message', 'denied');
    expect(why).toContain('Once is enough');
    expect(files).toEqual(['letter.md', 'notes.md']);
  });

  it('a model that receives a denial tries another call', async () => {
    expect(await reading.typed('deniedCall')).toEqual(['tell']);
    const [, ...steps] = await reading.repeated('run status', 'completed');
    const second = [model, read, model];
    expect(steps.slice(0, 5)).toEqual([model, 'tool_call files.read_text_file DENY', ...second]);
    expect(steps.join('\n')).toMatch(/1\. This call was not made: .*POLICY_DENIED.*^2\. Water the plants\.$/ms);
  });

  it('a run ends when its iterations are used up', async () => {
    expect(await reading.typed('maxIterationBudget')).toEqual(['2']);
    const [, ...steps] = await reading.repeated('run status', 'budget_exhausted');
    expect(steps.slice(0, -1)).toEqual([model, 'tool_call files.list_directory ALLOW', model, read, read]);
    expect(steps.at(-1)).toBe('The run used its last iteration before it was done.');
  });

  it('these tests have typed every command of the document', () => {
    expect(reading.walk.left).toEqual([]);
  });
});
