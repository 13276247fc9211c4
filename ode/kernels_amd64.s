// AVX2 versions of the kernels: eight components in two registers, the same operations in the same order.

#include "go_asm.h"
#include "textflag.h"

DATA absolute<>+0(SB)/8, $0x7fffffffffffffff
GLOBL absolute<>(SB), RODATA|NOPTR, $8
DATA smallest<>+0(SB)/8, $0x07b0000000000000
GLOBL smallest<>(SB), RODATA|NOPTR, $8
DATA one<>+0(SB)/8, $1.0
GLOBL one<>(SB), RODATA|NOPTR, $8

// TOTAL adds the eight partial sums in A and B to X, the low number of A.
#define TOTAL(A, B, X, T) \
	VADDPD B, A, A; \
	VEXTRACTF128 $1, A, T; \
	VADDPD T, X, X; \
	VPERMILPD $1, X, T; \
	VADDSD T, X, X

// NEXT continues a loop with the next eight of CX components; AX counts them.
#define NEXT(loop) \
	ADDQ $8, AX; \
	CMPQ AX, CX; \
	JLT loop

// func combineAVX2(dst, base, rows *float64, stride int, weights *float64, count, n int)
TEXT ·combineAVX2(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ base+8(FP), SI
	MOVQ rows+16(FP), DX
	MOVQ stride+24(FP), R8
	MOVQ weights+32(FP), R9
	MOVQ count+40(FP), R10
	MOVQ n+48(FP), CX
	SHLQ $3, R8
	XORL AX, AX
combineLoop:
	MOVQ DX, R11
	XORL R12, R12
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
combineRow:
	VBROADCASTSD (R9)(R12*8), Y2
	VMULPD (R11)(AX*8), Y2, Y3
	VMULPD 32(R11)(AX*8), Y2, Y4
	VADDPD Y3, Y0, Y0
	VADDPD Y4, Y1, Y1
	ADDQ R8, R11
	INCQ R12
	CMPQ R12, R10
	JLT combineRow
	TESTQ SI, SI
	JZ combineStore
	VADDPD (SI)(AX*8), Y0, Y0
	VADDPD 32(SI)(AX*8), Y1, Y1
combineStore:
	VMOVUPD Y0, (DI)(AX*8)
	VMOVUPD Y1, 32(DI)(AX*8)
	NEXT(combineLoop)
	VZEROUPPER
	RET

// WEIGHED weighs four components at an offset; Y0 is the relative tolerance, SUM the sum.
#define WEIGHED(offset, SUM) \
	VMOVUPD offset(SI)(AX*8), Y4; \
	VANDPD Y14, Y4, Y5; \
	VMULPD Y0, Y5, Y5; \
	VADDPD offset(R8)(AX*8), Y5, Y5; \
	VADDPD Y13, Y5, Y5; \
	VMOVUPD Y5, offset(R9)(AX*8); \
	VDIVPD Y5, Y15, Y6; \
	VMOVUPD Y6, offset(R10)(AX*8); \
	VSUBPD offset(DI)(AX*8), Y4, Y4; \
	VANDPD Y14, Y4, Y4; \
	VMULPD Y6, Y4, Y4; \
	VMINPD Y4, Y15, Y4; \
	VADDPD Y4, SUM, SUM

// func weighAVX2(y, y0, atol, w, per *float64, relative float64, n int) (moved float64)
TEXT ·weighAVX2(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), SI
	MOVQ y0+8(FP), DI
	MOVQ atol+16(FP), R8
	MOVQ w+24(FP), R9
	MOVQ per+32(FP), R10
	VBROADCASTSD relative+40(FP), Y0
	MOVQ n+48(FP), CX
	XORL AX, AX
	VBROADCASTSD absolute<>(SB), Y14
	VBROADCASTSD smallest<>(SB), Y13
	VBROADCASTSD one<>(SB), Y15
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
weighLoop:
	WEIGHED(0, Y1)
	WEIGHED(32, Y2)
	NEXT(weighLoop)
	TOTAL(Y1, Y2, X1, X3)
	VMOVSD X1, moved+56(FP)
	VZEROUPPER
	RET

// RESIDUAL sets four residuals at an offset; Y1 collects x - x of all: zero or not a number.
#define RESIDUAL(offset, X) \
	VMULPD offset(DI)(AX*8), Y0, X; \
	VSUBPD offset(SI)(AX*8), X, X; \
	VSUBPD offset(DX)(AX*8), X, X; \
	VMOVUPD X, offset(DI)(AX*8); \
	VSUBPD X, X, X; \
	VORPD X, Y1, Y1

// func residualAVX2(f, psi, delta *float64, c float64, n int) (finite bool)
TEXT ·residualAVX2(SB), NOSPLIT, $0-41
	MOVQ f+0(FP), DI
	MOVQ psi+8(FP), SI
	MOVQ delta+16(FP), DX
	VBROADCASTSD c+24(FP), Y0
	MOVQ n+32(FP), CX
	XORL AX, AX
	VXORPD Y1, Y1, Y1
residualLoop:
	RESIDUAL(0, Y2)
	RESIDUAL(32, Y3)
	NEXT(residualLoop)
	VCMPPD $3, Y1, Y1, Y1 // unordered
	VMOVMSKPD Y1, AX
	TESTL AX, AX
	SETEQ finite+40(FP)
	VZEROUPPER
	RET

// SQUARE adds the squares of X times per to SUM.
#define SQUARE(per, X, SUM) \
	VMULPD per, X, X; \
	VMULPD X, X, X; \
	VADDPD X, SUM, SUM

// UPDATE updates four components at an offset.
#define UPDATE(offset, X, Y, SUM) \
	VMULPD offset(SI)(AX*8), Y0, X; \
	VADDPD offset(DI)(AX*8), X, Y; \
	VMOVUPD Y, offset(DI)(AX*8); \
	VADDPD offset(R8)(AX*8), Y, Y; \
	VMOVUPD Y, offset(R9)(AX*8); \
	SQUARE(offset(R10)(AX*8), X, SUM)

// func updateAVX2(step, delta, base, y, per *float64, relax float64, n int) (sum float64)
TEXT ·updateAVX2(SB), NOSPLIT, $0-64
	MOVQ step+0(FP), SI
	MOVQ delta+8(FP), DI
	MOVQ base+16(FP), R8
	MOVQ y+24(FP), R9
	MOVQ per+32(FP), R10
	VBROADCASTSD relax+40(FP), Y0
	MOVQ n+48(FP), CX
	XORL AX, AX
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
updateLoop:
	UPDATE(0, Y3, Y5, Y1)
	UPDATE(32, Y4, Y6, Y2)
	NEXT(updateLoop)
	TOTAL(Y1, Y2, X1, X3)
	VMOVSD X1, sum+56(FP)
	VZEROUPPER
	RET

// func shiftAVX2(rows *float64, stride int, next *float64, q, n int)
TEXT ·shiftAVX2(SB), NOSPLIT, $0-40
	MOVQ rows+0(FP), DI
	MOVQ stride+8(FP), R8
	MOVQ next+16(FP), SI
	MOVQ q+24(FP), R9
	MOVQ n+32(FP), CX
	XORL AX, AX
	SHLQ $3, R8
	MOVQ R9, R10
	IMULQ R8, R10
	ADDQ R10, DI // the differences of order q+1
	LEAQ (DI)(R8*1), DX // those of order q+2
shiftLoop:
	VMOVUPD (SI)(AX*8), Y0
	VMOVUPD 32(SI)(AX*8), Y1
	VSUBPD (DI)(AX*8), Y0, Y2
	VSUBPD 32(DI)(AX*8), Y1, Y3
	VMOVUPD Y2, (DX)(AX*8)
	VMOVUPD Y3, 32(DX)(AX*8)
	VMOVUPD Y0, (DI)(AX*8)
	VMOVUPD Y1, 32(DI)(AX*8)
	MOVQ DI, R10
	MOVQ R9, R11
shiftRow:
	SUBQ R8, R10
	VADDPD (R10)(AX*8), Y0, Y0
	VADDPD 32(R10)(AX*8), Y1, Y1
	VMOVUPD Y0, (R10)(AX*8)
	VMOVUPD Y1, 32(R10)(AX*8)
	DECQ R11
	JNZ shiftRow
	NEXT(shiftLoop)
	VZEROUPPER
	RET

// func squaresAVX2(x, per *float64, n int) (sum float64)
TEXT ·squaresAVX2(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ per+8(FP), DI
	MOVQ n+16(FP), CX
	XORL AX, AX
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
squaresLoop:
	VMOVUPD (SI)(AX*8), Y3
	VMOVUPD 32(SI)(AX*8), Y4
	SQUARE((DI)(AX*8), Y3, Y1)
	SQUARE(32(DI)(AX*8), Y4, Y2)
	NEXT(squaresLoop)
	TOTAL(Y1, Y2, X1, X3)
	VMOVSD X1, sum+24(FP)
	VZEROUPPER
	RET

// MOMENTS adds the products of four components at an offset to three sums.
#define MOMENTS(offset, SQUARES, IMAGE, MIXED) \
	VMOVUPD offset(SI)(AX*8), Y7; \
	VMOVUPD offset(R8)(AX*8), Y9; \
	VSUBPD offset(DI)(AX*8), Y7, Y8; \
	VMULPD Y9, Y8, Y8; \
	VMULPD Y9, Y7, Y7; \
	VMULPD Y7, Y7, Y9; \
	VADDPD Y9, SQUARES, SQUARES; \
	VMULPD Y8, Y8, Y9; \
	VADDPD Y9, IMAGE, IMAGE; \
	VMULPD Y8, Y7, Y9; \
	VADDPD Y9, MIXED, MIXED

// func momentsAVX2(u, less, per *float64, n int) (square, image, mixed float64)
TEXT ·momentsAVX2(SB), NOSPLIT, $0-56
	MOVQ u+0(FP), SI
	MOVQ less+8(FP), DI
	MOVQ per+16(FP), R8
	MOVQ n+24(FP), CX
	XORL AX, AX
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
momentsLoop:
	MOMENTS(0, Y1, Y3, Y5)
	MOMENTS(32, Y2, Y4, Y6)
	NEXT(momentsLoop)
	TOTAL(Y1, Y2, X1, X7)
	TOTAL(Y3, Y4, X3, X7)
	TOTAL(Y5, Y6, X5, X7)
	VMOVSD X1, square+32(FP)
	VMOVSD X3, image+40(FP)
	VMOVSD X5, mixed+48(FP)
	VZEROUPPER
	RET

// func axpyAVX2(y *float64, a float64, x *float64, n int)
TEXT ·axpyAVX2(SB), NOSPLIT, $0-32
	MOVQ y+0(FP), DI
	VBROADCASTSD a+8(FP), Y0
	MOVQ x+16(FP), SI
	MOVQ n+24(FP), CX
	XORL AX, AX
axpyLoop:
	VMULPD (SI)(AX*8), Y0, Y1
	VMULPD 32(SI)(AX*8), Y0, Y2
	VADDPD (DI)(AX*8), Y1, Y1
	VADDPD 32(DI)(AX*8), Y2, Y2
	VMOVUPD Y1, (DI)(AX*8)
	VMOVUPD Y2, 32(DI)(AX*8)
	NEXT(axpyLoop)
	VZEROUPPER
	RET

// PAIR loads the values in w of two columns.
#define PAIR(A, B, X) \
	VMOVSD (R9)(A*8), X; \
	VMOVHPD (R9)(B*8), X, X

// FOUR combines X by an operation with the products of the next four entries and the values in w of their columns.
#define FOUR(operation, X) \
	MOVLQSX (DX), AX; \
	MOVLQSX 4(DX), R15; \
	PAIR(AX, R15, X2); \
	MOVLQSX 8(DX), AX; \
	MOVLQSX 12(DX), R15; \
	PAIR(AX, R15, X3); \
	VINSERTF128 $1, X3, Y2, Y2; \
	VMULPD (DI), Y2, Y2; \
	operation Y2, X, X; \
	ADDQ $32, DI; \
	ADDQ $16, DX

// ENTRY does the same with one entry.
#define ENTRY(operation, X) \
	MOVLQSX (DX), AX; \
	VMOVSD (R9)(AX*8), X2; \
	VMULSD (DI), X2, X2; \
	operation X2, X, X; \
	ADDQ $8, DI; \
	ADDQ $4, DX

// func substituteAVX2(bundles *bundle, val *float64, col *int32, inv, w *float64, count int)
TEXT ·substituteAVX2(SB), NOSPLIT, $0-48
	MOVQ bundles+0(FP), SI
	MOVQ val+8(FP), DI
	MOVQ col+16(FP), DX
	MOVQ inv+24(FP), R8
	MOVQ w+32(FP), R9
	MOVQ count+40(FP), CX
next:
	MOVLQSX bundle_row(SI), R10
	MOVL bundle_count(SI), BX
	CMPL bundle_rows(SI), $const_abreast
	JNE single

	MOVLQSX bundle_row+4(SI), R11
	MOVLQSX bundle_row+8(SI), R12
	MOVLQSX bundle_row+12(SI), R13
	PAIR(R10, R11, X0)
	PAIR(R12, R13, X1)
	VINSERTF128 $1, X1, Y0, Y0
	TESTL BX, BX
	JZ scaled
entries:
	FOUR(VSUBPD, Y0)
	DECL BX
	JNZ entries
scaled:
	VMULPD (R8), Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMOVSD X0, (R9)(R10*8)
	VMOVHPD X0, (R9)(R11*8)
	VMOVSD X1, (R9)(R12*8)
	VMOVHPD X1, (R9)(R13*8)
	ADDQ $32, R8
done:
	ADDQ $bundle__size, SI
	DECQ CX
	JNZ next
	VZEROUPPER
	RET

single:
	VMOVSD (R9)(R10*8), X0
	CMPL BX, $const_long
	JGE parts
	TESTL BX, BX
	JZ one
entry:
	ENTRY(VSUBSD, X0)
	DECL BX
	JNZ entry
one:
	VMULSD (R8), X0, X0
	VMOVSD X0, (R9)(R10*8)
	ADDQ $8, R8
	JMP done

parts:
	VXORPD Y1, Y1, Y1
part:
	FOUR(VADDPD, Y1)
	SUBL $4, BX
	CMPL BX, $4
	JGE part
	VEXTRACTF128 $1, Y1, X3
	TESTL BX, BX
	JZ sum
rest:
	ENTRY(VADDSD, X1)
	DECL BX
	JNZ rest
sum:
	VHADDPD X3, X1, X1
	VPERMILPD $1, X1, X2
	VADDSD X2, X1, X1
	VSUBSD X1, X0, X0
	JMP one

// WITHIN compares four numbers at an offset; Y0 collects the results.
// The predicates are >= and <=, false where one is not a number.
#define WITHIN(offset, X, Y) \
	VMOVUPD offset(SI)(AX*8), X; \
	VCMPPD $0x1d, offset(DX)(AX*8), X, Y; \
	VCMPPD $0x12, offset(DI)(AX*8), X, X; \
	VANDPD X, Y, Y; \
	VANDPD Y, Y0, Y0

// func withinAVX2(x, low, high *float64, n int) bool
TEXT ·withinAVX2(SB), NOSPLIT, $0-33
	MOVQ x+0(FP), SI
	MOVQ low+8(FP), DX
	MOVQ high+16(FP), DI
	MOVQ n+24(FP), CX
	XORL AX, AX
	VXORPD Y0, Y0, Y0
	VCMPPD $0, Y0, Y0, Y0 // true
loop:
	WITHIN(0, Y1, Y2)
	WITHIN(32, Y3, Y4)
	ADDQ $8, AX
	CMPQ AX, CX
	JLT loop
	VMOVMSKPD Y0, AX
	CMPL AX, $15
	SETEQ ret+32(FP)
	VZEROUPPER
	RET
