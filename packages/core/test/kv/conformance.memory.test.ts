import { describe } from 'vitest';
import { compactionSuite, conformanceSuite } from './conformance.js';
import { memoryTarget } from './target.js';

describe('the memory twin', () => {
  conformanceSuite(memoryTarget());
  compactionSuite(memoryTarget());
});
