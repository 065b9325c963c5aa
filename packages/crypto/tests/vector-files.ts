import { readFileSync, readdirSync } from 'node:fs';
import { expect } from '@jest/globals';
import { CryptoError, decodeHex } from '../src/index.ts';

const vectorsDir = new URL('../../../contracts/vectors/', import.meta.url);

/** All vectors of one folder, as rows for `it.each`. The file name is the reason for the vector. */
export function vectorsOf<Vector>(folder: string): [string, Vector][] {
  const directory = new URL(`${folder}/`, vectorsDir);
  const files = readdirSync(directory).filter((file) => file.endsWith('.json'));
  return files.map((file) => [
    file.replace('.json', ''),
    JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as Vector, // our own files
  ]);
}

/** The code of the error that `act` throws. Fails the test when it throws nothing, or another error. */
export function refusal(act: () => unknown): { code: string; path: string | undefined } {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(CryptoError);
    const { code, path } = error as CryptoError; // checked on the line above
    return { code, path };
  }
  throw new Error('nothing was refused');
}

export function numberOfBits(hex: string): number {
  return new DataView(decodeHex(hex).buffer as ArrayBuffer).getFloat64(0); // decodeHex allocates
}

export function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  return bytes.map((byte, index) => (index === Math.floor(bit / 8) ? byte ^ (1 << (bit % 8)) : byte));
}
