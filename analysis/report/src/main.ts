export {}; document.getElementById('page')!.textContent = 'hi';
