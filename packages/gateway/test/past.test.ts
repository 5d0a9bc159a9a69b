import { describePast } from './past.suite.js';

describePast('the memory twin', () => 'memory');
