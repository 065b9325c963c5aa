import { describe, expect, it } from '@jest/globals';
import { corpus, ratesOfScan } from '../src/scan/scan-corpus.ts';

describe('the scan of tool definitions, on its labelled corpus', () => {
  it('finds at least 95% of the planted problems by kind, and flags at most 3% of the honest tools', async () => {
    const { missed, blamed, recall, falsePositives } = await ratesOfScan();
    expect({ missed, recall: recall >= 0.95 }).toEqual({ missed, recall: true });
    expect({ blamed, falsePositives: falsePositives <= 0.03 }).toEqual({ blamed, falsePositives: true });
  });

  it('covers at least 60 malicious and 60 honest tools, and every kind that one tool can show', () => {
    const malicious = corpus.filter(({ label }) => label === 'malicious');
    expect(malicious.length).toBeGreaterThanOrEqual(60);
    expect(corpus.length - malicious.length).toBeGreaterThanOrEqual(60);
    expect(new Set(malicious.map(({ kind }) => kind))).toEqual(
      new Set([
        'hidden_text',
        'model_instruction',
        'look_alike',
        'shadowing',
        'encoded_payload',
        'embedded_secret',
        'broad_schema',
        'understated_effect',
      ]),
    );
  });
});
